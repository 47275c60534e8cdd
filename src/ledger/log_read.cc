// LogOrder::read: the events of a log in the order of Key.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <span>
#include <unordered_set>

#include "ledger/log_order.h"

namespace goodput::ledger {

using event::Event;
using event::Kind;

namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// A window of a shifted log that is read at once: halved above the one, doubled below the other number of events.
constexpr int64_t kFirstWindowNs = int64_t{3600} * 1'000'000'000;
constexpr size_t kManyEvents = 65'536;
constexpr size_t kFewEvents = 4'096;

bool by_key(const OwnedEvent& a, const OwnedEvent& b) { return a.key() < b.key(); }

/// Sorts the events of one or more instants and hands on those that are not second deliveries.
class Group {
 public:
  Group(const Key& after, LogOrder::Sink sink) : after_(after), sink_(sink) {}

  void add(const Event& event, const Key& key) { events_.emplace_back(event, key); }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] int64_t ns() const { return events_.back().ns(); }

  bool flush() {
    std::sort(events_.begin(), events_.end(), by_key);
    bool go_on = true;
    std::unordered_set<uint64_t> seen;  // payloads of one instant
    for (size_t i = 0; i < events_.size() && go_on; ++i) {
      const OwnedEvent& entry = events_[i];
      if (i > 0 && entry.ns() != events_[i - 1].ns()) seen.clear();
      const uint64_t payload = entry.event().has(event::kUntimed) ? 0 : entry.event().fingerprint;
      if (payload != 0 && events_.size() > 1 && !seen.insert(payload).second) continue;
      go_on = pass(entry.key(), entry.event());
    }
    events_.clear();
    return go_on;
  }

  bool pass(const Key& key, const Event& event) { return after_ < key ? sink_(key, event) : true; }

 private:
  const Key& after_;
  LogOrder::Sink sink_;
  std::vector<OwnedEvent> events_;
};

}  // namespace

Status LogOrder::read(event::Source& source, const Key& after, int64_t to_ns, Sink sink,
                      const std::set<Key>& without) const {
  return shifts_.size() == 1 ? read_unshifted(source, after, to_ns, sink, without)
                             : read_shifted(source, after, to_ns, sink, without);
}

Status LogOrder::read_unshifted(event::Source& source, const Key& after, int64_t to_ns, Sink sink,
                                const std::set<Key>& without) const {
  Group group(after, sink);
  bool go_on = true;
  auto untimed = std::upper_bound(untimed_.begin(), untimed_.end(), after,
                                  [](const Key& key, const OwnedEvent& entry) { return key < entry.key(); });
  const auto flush_before = [&](int64_t ns) {
    while (go_on && untimed != untimed_.end() && untimed->ns() < ns && untimed->ns() <= to_ns) {
      if (!group.empty() && group.ns() < untimed->ns()) go_on = group.flush();
      group.add(untimed->event(), untimed->key());
      ++untimed;
    }
    if (go_on && !group.empty()) go_on = group.flush();
  };
  const int64_t end_ns = to_ns == kForever ? to_ns : to_ns + 1;
  RETURN_IF_ERROR(source.read(after.ns, end_ns, [&](std::span<const Event> events) {
    for (size_t i = 0; i < events.size() && go_on; ++i) {
      const Event& event = events[i];
      const std::optional<Key> key = key_of(event);
      if (!key.has_value() || (!without.empty() && without.contains(*key))) continue;
      if (!group.empty() && group.ns() < key->ns) flush_before(key->ns);
      const bool alone = i + 1 < events.size() && events[i + 1].time_ns != event.time_ns && group.empty() &&
                         (untimed == untimed_.end() || untimed->ns() > event.time_ns);
      if (alone) {
        go_on = group.pass(*key, event);
      } else {
        if (group.empty()) flush_before(key->ns);
        group.add(event, *key);
      }
    }
    return go_on;
  }));
  flush_before(kForever);
  return {};
}

Status LogOrder::collect(event::Source& source, int64_t from_ns, int64_t to_ns, const std::set<Key>& without,
                         std::vector<OwnedEvent>& out) const {
  for (const int64_t shift_ns : shifts_) {
    RETURN_IF_ERROR(source.read(from_ns - shift_ns, to_ns - shift_ns, [&](std::span<const Event> events) {
      for (const Event& event : events) {
        const std::optional<Key> key = key_of(event);
        if (!key.has_value() || key->ns - event.time_ns != shift_ns || without.contains(*key)) continue;
        out.emplace_back(event, *key);
      }
      return true;
    }));
  }
  return {};
}

Status LogOrder::read_shifted(event::Source& source, const Key& after, int64_t to_ns, Sink sink,
                              const std::set<Key>& without) const {
  const int64_t last_ns = std::min(to_ns, raw_high_ns_ + shifts_.back());
  int64_t from_ns = std::max(after.ns, raw_low_ns_);
  int64_t window_ns = kFirstWindowNs;
  auto untimed = std::upper_bound(untimed_.begin(), untimed_.end(), after,
                                  [](const Key& key, const OwnedEvent& entry) { return key < entry.key(); });
  bool go_on = true;
  while (go_on && from_ns <= last_ns) {
    const int64_t end_ns = std::min(from_ns + window_ns, last_ns + 1);
    std::vector<OwnedEvent> events;
    RETURN_IF_ERROR(collect(source, from_ns, end_ns, without, events));
    Group group(after, sink);
    std::sort(events.begin(), events.end(), by_key);
    for (const OwnedEvent& event : events) group.add(event.event(), event.key());
    for (; untimed != untimed_.end() && untimed->ns() < end_ns; ++untimed) {
      group.add(untimed->event(), untimed->key());
    }
    go_on = group.flush();
    if (events.size() > kManyEvents) window_ns = std::max<int64_t>(window_ns / 2, 1);
    if (events.size() < kFewEvents && window_ns < kForever / 4) window_ns *= 2;
    from_ns = end_ns;
  }
  return {};
}

}  // namespace goodput::ledger
