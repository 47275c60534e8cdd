// Attempts, segments and the ends of things (SEMANTICS, "Vocabulary", and what "Reading a log" removes).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "reference/job.h"

namespace goodput::reference {
namespace {

using event::Event;
using event::Kind;

constexpr int64_t kSameStartNs = 1 * kSecond;
constexpr int64_t kStrayNs = 10 * kSecond;
constexpr int64_t kSameStepNs = 1 * kSecond;
constexpr size_t kWriterRecords = 4'096;

/// What tells a second writer's step record from a repetition.
struct Writers {
  struct Record {
    int64_t time_ns;
    size_t elastic_entries, records;
  };
  std::map<int64_t, Record> latest;  ///< by step number
  size_t elastic_entries = 0, records = 0;
  int64_t last_interval_ns = 0;
  std::optional<StepRecord> previous;

  [[nodiscard]] bool is_second(const StepRecord& record) const {
    const auto hit = latest.find(record.step);
    if (hit == latest.end() || hit->second.elastic_entries != elastic_entries) return false;
    if (records - hit->second.records >= kWriterRecords) return false;
    const int64_t apart_ns = record.time_ns - hit->second.time_ns;
    return apart_ns < kSameStepNs || 2 * apart_ns < last_interval_ns;
  }

  void keep(const StepRecord& record) {
    const bool same_segment = previous && record.step > previous->step;
    last_interval_ns = same_segment ? record.time_ns - previous->time_ns : 0;
    previous = record;
    latest[record.step] = {record.time_ns, elastic_entries, records};
    ++records;
  }
};

bool is_elastic(Kind kind) { return kind >= Kind::kElasticWaitStart && kind <= Kind::kElasticReinitEnd; }

/// Folds entries in time order into attempts.
class Builder {
 public:
  explicit Builder(Findings& findings) : findings_(findings) {}

  void add(const Entry& entry) {
    if (!placed(entry)) return;
    const Event& event = *entry.event;
    Attempt& attempt = job_.attempts.back();
    if (is_elastic(event.kind)) ++writers_.elastic_entries;
    if (event.kind == Kind::kStepStart && !add_step(entry)) return;
    if (event.kind == Kind::kJobEnd)
      (event.has(event::kFailed) ? attempt.failed_ns : attempt.completed_ns) = entry.time_ns;
    if (event.kind == Kind::kProcessExit) add_exit(entry);
    attempt.entries.push_back(entry);
    attempt.last_ns = std::max(attempt.last_ns, entry.time_ns + event.duration_ns);
  }

  Job take() && { return std::move(job_); }

 private:
  void open(std::string_view id, const Entry& entry, bool opened) {
    Attempt attempt;
    attempt.id = id;
    attempt.start_ns = attempt.last_ns = attempt.opened_ns = entry.time_ns;
    attempt.opened = opened;
    attempt.has_job_start = entry.event->kind == Kind::kJobStart;
    attempt.opening_rank = entry.rank;
    job_.attempts.push_back(std::move(attempt));
    writers_ = Writers();
    segment_open_ = false;
  }

  /// The first entries of a log, when no step record is among them, belong to the job start that soon follows.
  bool adopt_stray_entries(const Entry& entry, std::string_view id) {
    if (job_.attempts.empty()) return false;
    Attempt& attempt = job_.attempts.back();
    if (attempt.opened || attempt.has_steps || entry.time_ns - attempt.start_ns >= kStrayNs) return false;
    if (!attempt.id.empty() && !id.empty()) return false;  // they are another attempt's
    if (!id.empty()) attempt.id = id;
    attempt.opened = attempt.has_job_start = true;
    attempt.opened_ns = entry.time_ns;
    return true;
  }

  /// A job start less than a second after another of its attempt, without a step record between.
  bool is_second_start(const Entry& entry) {
    if (job_.attempts.empty()) return false;
    const Attempt& attempt = job_.attempts.back();
    if (!attempt.opened || attempt.has_steps || entry.time_ns - attempt.opened_ns >= kSameStartNs) return false;
    ++findings_.two_writers;
    return true;
  }

  /// Opens the entry's attempt where it begins one; false where the entry belongs to no attempt.
  bool placed(const Entry& entry) {
    const Event& event = *entry.event;
    const std::string id(event.origin == nullptr ? std::string_view() : event.origin->attempt_id);
    if (!id.empty()) return placed_by_id(entry, id);
    if (event.kind != Kind::kJobStart) {
      if (job_.attempts.empty()) open("", entry, false);
      return true;
    }
    if (adopt_stray_entries(entry, "")) return true;
    if (is_second_start(entry)) return false;
    open("", entry, true);
    return true;
  }

  bool placed_by_id(const Entry& entry, const std::string& id) {
    const Event& event = *entry.event;
    const bool trainer = event.origin->role.empty();
    if (event.process_index() != 0) {  // of whichever attempt runs
      if (job_.attempts.empty()) open("", entry, false);
      return true;
    }
    if (!job_.attempts.empty()) {
      Attempt& current = job_.attempts.back();
      if (current.id == id) return event.kind != Kind::kJobStart || placed_second_start(entry, id);
      if (current.id.empty() && trainer && event.kind != Kind::kJobStart && event.kind != Kind::kHeartbeat) {
        current.id = id;
        return true;
      }
    }
    if (!trainer) return false;
    if (Attempt* ended = attempt_of(id)) {
      // Dropped, but it shows that the attempt lived until its successor began: that is its death.
      ended->last_ns = std::max(ended->last_ns, (ended + 1)->start_ns);
      if (overlapping_.insert(id).second) ++findings_.overlapping_attempts;
      return false;
    }
    if (event.kind == Kind::kHeartbeat) return false;  // liveness opens no attempt
    if (event.kind == Kind::kJobStart && adopt_stray_entries(entry, id)) return true;
    if (event.kind == Kind::kJobStart && !job_.attempts.empty() && job_.attempts.back().id.empty() &&
        is_second_start(entry)) {
      return false;
    }
    open(id, entry, true);
    return true;
  }

  /// A job start of the attempt that runs: its own, a second writer's, or that of another attempt of one id.
  bool placed_second_start(const Entry& entry, const std::string& id) {
    Attempt& current = job_.attempts.back();
    if (!current.has_job_start && !current.has_steps) {
      current.opened = current.has_job_start = true;
      current.opened_ns = entry.time_ns;
      return true;
    }
    if (current.has_job_start && is_second_start(entry)) return false;
    open(id, entry, true);
    return true;
  }

  Attempt* attempt_of(const std::string& id) {
    const auto found =
        std::find_if(job_.attempts.begin(), job_.attempts.end(), [&](const Attempt& a) { return a.id == id; });
    return found == job_.attempts.end() ? nullptr : &*found;
  }

  bool add_step(const Entry& entry) {
    Attempt& attempt = job_.attempts.back();
    const StepRecord record{entry.event->step, entry.time_ns, entry.rank};
    if (writers_.is_second(record)) {
      ++findings_.two_writers;
      return false;
    }
    if (!segment_open_ || record.step <= writers_.previous->step) {
      job_.segments.push_back({job_.attempts.size() - 1, {}});
    }
    job_.segments.back().steps.push_back(record);
    writers_.keep(record);
    segment_open_ = true;
    attempt.has_steps = true;
    // An end or exit that a step record of its attempt follows counts for nothing.
    attempt.completed_ns = attempt.failed_ns = attempt.exit_ns = attempt.exit_zero_ns = std::nullopt;
    return true;
  }

  void add_exit(const Entry& entry) {
    Attempt& attempt = job_.attempts.back();
    const bool zero = entry.event->has(event::kCode) && entry.event->exit_value == 0;
    if (!zero) {
      attempt.exit_ns = entry.time_ns;
    } else if (!attempt.exit_zero_ns) {
      attempt.exit_zero_ns = entry.time_ns;
    }
  }

  Findings& findings_;
  Job job_;
  Writers writers_;
  bool segment_open_ = false;
  std::set<std::string> overlapping_;
};

void find_deaths(Job& job, const Options& options) {
  for (Attempt& attempt : job.attempts) {
    if (!attempt.completed_ns && !attempt.failed_ns) attempt.completed_ns = attempt.exit_zero_ns;
  }
  const Attempt& final = job.attempts.back();
  job.start_ns = job.attempts.front().start_ns;
  job.end_ns = options.now_ns;
  for (const Attempt& attempt : job.attempts) job.end_ns = std::max(job.end_ns, attempt.last_ns);
  if (final.failed_ns) job.end_ns = *final.failed_ns;
  if (final.completed_ns) job.end_ns = *final.completed_ns;

  for (size_t k = 0; k < job.attempts.size(); ++k) {
    Attempt& attempt = job.attempts[k];
    const bool last = k + 1 == job.attempts.size();
    const bool beats = std::any_of(attempt.entries.begin(), attempt.entries.end(),
                                   [](const Entry& entry) { return entry.event->kind == Kind::kHeartbeat; });
    if (attempt.completed_ns || attempt.failed_ns) {
      attempt.death_ns = attempt.completed_ns ? *attempt.completed_ns : *attempt.failed_ns;
    } else if (attempt.exit_ns) {
      attempt.death_ns = *attempt.exit_ns;
      attempt.dead = last;
    } else {
      attempt.death_ns = attempt.last_ns;
      attempt.dead = last && beats && job.end_ns - attempt.death_ns > options.dead_after_ns;
    }
    if (!last) attempt.death_ns = std::min(attempt.death_ns, job.attempts[k + 1].start_ns);
  }
}

}  // namespace

std::optional<Job> build_job(const TimeOrder& log, const Options& options, Findings& findings) {
  Builder builder(findings);
  for (const Entry& entry : log.entries) builder.add(entry);
  Job job = std::move(builder).take();
  if (job.attempts.empty()) return std::nullopt;
  job.annotations = log.annotations;
  find_deaths(job, options);
  return job;
}

}  // namespace goodput::reference
