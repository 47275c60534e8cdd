// Reading a log (SEMANTICS, "Reading a log"): which entries count, at what time, in what order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "reference/job.h"

namespace goodput::reference {
namespace {

using event::Event;
using event::Kind;

constexpr int64_t kClockBehindNs = 10 * kSecond;
constexpr int64_t kSkewMostNs = 600 * kSecond;
constexpr uint64_t kRedeliveryEntries = 16'384;

std::string_view attempt_id(const Event& event) {
  return event.origin == nullptr ? std::string_view() : event.origin->attempt_id;
}

bool is_checkpoint_entry(Kind kind) { return kind == Kind::kCheckpointSave || kind == Kind::kCheckpointRestore; }

/// Rank 0 is the job's clock; of other ranks only checkpoint statistics enter the partition.
bool counts(const Event& event) {
  return event.kind != Kind::kNone && (event.process_index() == 0 || is_checkpoint_entry(event.kind));
}

/// An entry on its way into time order.
struct Reading {
  const Event* event;
  int64_t time_ns;
  bool first_of_instant;  ///< a job start that no rule moved
  size_t moved_after;     ///< events of an attempt moved to an instant come after what is there
};

std::vector<const Event*> in_log_order(std::span<const Event> events) {
  std::vector<const Event*> log;
  for (const Event& event : events) {
    if (counts(event)) log.push_back(&event);
  }
  // Entries with one position are copies of one entry; the other keys keep the answer free of their order of arrival.
  std::sort(log.begin(), log.end(), [](const Event* a, const Event* b) {
    return std::tie(a->position, a->time_ns, a->kind, a->fingerprint, a->step) <
           std::tie(b->position, b->time_ns, b->kind, b->fingerprint, b->step);
  });
  return log;
}

/// Positions of one log share their major part; a journal writes no entry twice.
bool near(event::Position earlier, event::Position later) {
  return earlier.major == later.major && later.minor - earlier.minor <= kRedeliveryEntries;
}

std::vector<const Event*> without_redeliveries(const std::vector<const Event*>& log, Findings& findings) {
  std::vector<const Event*> kept;
  std::map<uint64_t, event::Position> seen;
  for (const Event* event : log) {
    if (event->fingerprint != 0) {
      const auto before = seen.find(event->fingerprint);
      if (before != seen.end() && (!event->has(event::kUntimed) || near(before->second, event->position))) {
        ++findings.redelivered_entries;
        continue;
      }
      seen[event->fingerprint] = event->position;
    }
    kept.push_back(event);
  }
  return kept;
}

/// Gives every entry its time; the rule "clock behind" for attempts without an id.
std::vector<Reading> read_clocks(const std::vector<const Event*>& log, Findings& findings) {
  std::vector<Reading> readings;
  std::optional<int64_t> latest;
  int64_t shift = 0;
  for (const Event* event : log) {
    if (event->kind == Kind::kDisruption) {
      readings.push_back({event, event->time_ns + (attempt_id(*event).empty() ? shift : 0), false, 0});
      continue;
    }
    if (event->has(event::kUntimed)) {
      if (!latest) {
        ++findings.malformed_entries;
      } else {
        readings.push_back({event, *latest, false, 0});
      }
      continue;
    }
    bool first_of_instant = event->kind == Kind::kJobStart;
    if (attempt_id(*event).empty()) {
      if (event->kind == Kind::kJobStart) {
        const bool behind = latest && event->time_ns < *latest - kClockBehindNs;
        shift = behind ? *latest - event->time_ns : 0;
        findings.clock_skew += behind ? 1 : 0;
        findings.clock_skew_ns += shift;
        first_of_instant = !behind;
      }
      readings.push_back({event, event->time_ns + shift, first_of_instant, 0});
    } else {
      readings.push_back({event, event->time_ns, first_of_instant, 0});
    }
    latest = std::max(latest.value_or(readings.back().time_ns), readings.back().time_ns);
  }
  return readings;
}

/// What decides whether the clock of an attempt with an id is behind its predecessor's.
struct Clock {
  bool opens = false;  ///< rank 0 recorded something of it, heartbeats apart
  const Reading* first = nullptr;
  std::optional<int64_t> last_step_or_end;
  int64_t shift = 0;
  size_t moved_after = 0;
};

bool before(const Reading& a, const Reading& b) {
  return std::make_tuple(a.time_ns, a.moved_after, !a.first_of_instant, a.event->position) <
         std::make_tuple(b.time_ns, b.moved_after, !b.first_of_instant, b.event->position);
}

std::map<std::string_view, Clock> clocks_of(const std::vector<Reading>& readings) {
  std::map<std::string_view, Clock> clocks;
  for (const Reading& reading : readings) {
    const Event& event = *reading.event;
    if (attempt_id(event).empty() || event.process_index() != 0) continue;
    if (event.kind == Kind::kHeartbeat || event.kind == Kind::kDisruption) continue;
    Clock& clock = clocks[attempt_id(event)];
    if (!clock.opens || before(reading, *clock.first)) clock.first = &reading;
    clock.opens = true;
    if (event.kind == Kind::kStepStart || event.kind == Kind::kJobEnd) {
      clock.last_step_or_end = std::max(clock.last_step_or_end.value_or(reading.time_ns), reading.time_ns);
    }
  }
  return clocks;
}

/// An attempt on another host that starts 10 s to 10 min before its predecessor's last step or end moves to that time.
void move_skewed_attempts(std::vector<Reading>& readings, Findings& findings) {
  std::map<std::string_view, Clock> clocks = clocks_of(readings);
  std::vector<Clock*> order;
  for (auto& [id, clock] : clocks) order.push_back(&clock);
  std::sort(order.begin(), order.end(), [](const Clock* a, const Clock* b) { return before(*a->first, *b->first); });
  for (size_t k = 1; k < order.size(); ++k) {
    const Clock& predecessor = *order[k - 1];
    Clock& clock = *order[k];
    const std::string_view host = clock.first->event->origin->host;
    const std::string_view host_before = predecessor.first->event->origin->host;
    if (host.empty() || host_before.empty() || host == host_before || !predecessor.last_step_or_end) continue;
    const int64_t behind = *predecessor.last_step_or_end + predecessor.shift - clock.first->time_ns;
    if (behind < kClockBehindNs || behind > kSkewMostNs) continue;
    clock.shift = behind;
    clock.moved_after = k;
    ++findings.clock_skew;
    findings.clock_skew_ns += behind;
  }
  std::vector<Reading> moved = readings;
  for (Reading& reading : moved) {
    const auto found = clocks.find(attempt_id(*reading.event));
    if (found == clocks.end()) continue;
    reading.time_ns += found->second.shift;
    reading.moved_after = found->second.moved_after;
  }
  readings = std::move(moved);
}

}  // namespace

TimeOrder read_log(std::span<const Event> events, Findings& findings) {
  std::vector<Reading> readings = read_clocks(without_redeliveries(in_log_order(events), findings), findings);
  move_skewed_attempts(readings, findings);
  std::stable_sort(readings.begin(), readings.end(), before);
  TimeOrder log;
  for (const Reading& reading : readings) {
    std::vector<Entry>& into = reading.event->kind == Kind::kDisruption ? log.annotations : log.entries;
    into.push_back({reading.time_ns, log.entries.size(), reading.event});
  }
  return log;
}

}  // namespace goodput::reference
