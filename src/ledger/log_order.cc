// SPDX-License-Identifier: Apache-2.0
#include "ledger/log_order.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ledger/limits.h"

namespace goodput::ledger {

using event::Event;
using event::Kind;
using event::Position;

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

/// Only rank 0 is the job's clock; of the other ranks checkpoint statistics count.
bool counts(const Event& event) {
  return event.process_index() == 0 || event.kind == Kind::kCheckpointSave || event.kind == Kind::kCheckpointRestore;
}

bool is_labelled(const Event& event) { return event.origin != nullptr && !event.origin->attempt_id.empty(); }

bool opens_attempt(const Event& event) {
  return event.process_index() == 0 && event.origin->role.empty() && event.kind != Kind::kHeartbeat &&
         event.kind != Kind::kDisruption;
}

bool is_step_or_end(const Event& event) { return event.kind == Kind::kStepStart || event.kind == Kind::kJobEnd; }

bool is_plain_job_start(const Event& event) { return event.kind == Kind::kJobStart && !is_labelled(event); }

/// Near enough in the log for an entry without a time of its own to be a second delivery.
bool is_near(const Position& before, const Position& at) {
  return before.major == at.major && at.minor - before.minor <= kUntimedRedeliveryEntries;
}

bool is_behind(int64_t start_ns, int64_t high_ns) { return high_ns != kNever && start_ns < high_ns - kClockBehindNs; }

}  // namespace

// ---- arrival ----

std::optional<Key> LogOrder::place_any(const Event& event) {
  const std::optional<Key> key = place_slowly(event);
  is_fast_ = !must_rebuild_ && shifts_.size() == 1 && event.process_index() == 0;
  fast_origin_ = event.origin;
  fast_labelled_ = nullptr;
  fast_from_ns_ = 0;
  if (is_fast_ && is_labelled(event)) {
    fast_labelled_ = find_labelled(event);
    is_fast_ = fast_labelled_ != nullptr && event.origin->role.empty() && is_surely_last(*fast_labelled_);
    if (is_fast_) fast_from_ns_ = fast_labelled_->first_ns + 1;
  }
  return key;
}

std::optional<Key> LogOrder::place_slowly(const Event& event) {
  if (!counts(event)) return std::nullopt;
  const bool in_order = !any_ || event.position > last_position_;
  any_ = true;
  last_position_ = std::max(last_position_, event.position);
  if (event.has(event::kUntimed)) return place_untimed(event, in_order);
  const bool newest = event.time_ns > raw_high_ns_;
  raw_low_ns_ = std::min(raw_low_ns_, event.time_ns);
  raw_high_ns_ = std::max(raw_high_ns_, event.time_ns);
  if (is_labelled(event)) return place_labelled(event);
  // Where attempts were moved, a second delivery may stand far from the first, and a late entry may move more.
  if (shifts_.size() > 1 && (!newest || !in_order)) must_rebuild_ = true;
  if (event.kind == Kind::kJobStart) return place_job_start(event, in_order);
  if (event.kind == Kind::kDisruption) return key_of(event);
  const int64_t ns = event.time_ns + (markers_.empty() ? 0 : shift_at(event.position));
  if (!in_order) raise_markers_after(event.position, ns);
  high_ns_ = std::max(high_ns_, ns);
  return Key{ns, 0, 1, event.position};
}

std::optional<Key> LogOrder::place_job_start(const Event& event, bool in_order) {
  for (const Marker& marker : markers_) {
    if (!marker.untimed && marker.ns == event.time_ns && marker.fingerprint == event.fingerprint &&
        event.fingerprint != 0) {
      if (event.position < marker.position) must_rebuild_ = true;
      return std::nullopt;
    }
  }
  const size_t at = markers_before(event.position);
  Marker marker{.position = event.position, .fingerprint = event.fingerprint, .ns = event.time_ns};
  marker.high_ns = at == markers_.size() ? high_ns_ : markers_[at].high_ns;  // late: at most that
  if (is_behind(event.time_ns, marker.high_ns)) {
    if (!in_order) {
      must_rebuild_ = true;  // what stood before it exactly?
    } else {
      marker.shift_ns = marker.high_ns - event.time_ns;
      add_shift(marker.shift_ns);
    }
  }
  if (!in_order && at > 0 && shift_at(event.position) != 0) must_rebuild_ = true;  // entries after it change attempts
  const int64_t ns = event.time_ns + marker.shift_ns;
  const bool moved = marker.shift_ns != 0;
  markers_.insert(markers_.begin() + static_cast<std::ptrdiff_t>(at), marker);
  if (!in_order) raise_markers_after(event.position, ns);
  high_ns_ = std::max(high_ns_, ns);
  return Key{ns, 0, static_cast<uint8_t>(moved ? 1 : 0), event.position};
}

std::optional<Key> LogOrder::place_untimed(const Event& event, bool in_order) {
  untimed_log_.emplace_back(event, Key{0, 0, 1, event.position});
  if (!in_order) {
    must_rebuild_ = true;
    return std::nullopt;
  }
  for (auto marker = markers_.rbegin(); marker != markers_.rend(); ++marker) {
    if (!marker->untimed || marker->fingerprint != event.fingerprint || event.fingerprint == 0) continue;
    if (is_near(marker->position, event.position)) return std::nullopt;
    break;
  }
  markers_.push_back({.position = event.position,
                      .fingerprint = event.fingerprint,
                      .ns = high_ns_,
                      .high_ns = high_ns_,
                      .untimed = true});
  if (high_ns_ == kNever) return std::nullopt;  // the first of its log: malformed
  Event resolved = event;
  resolved.time_ns = high_ns_;
  const Key key{high_ns_, 0, 1, event.position};
  untimed_.emplace_back(resolved, key);  // high_ns_ only grows: they stay in order
  return key;
}

void LogOrder::raise_markers_after(const Position& position, int64_t ns) {
  for (size_t i = markers_before(position); i < markers_.size(); ++i) {
    Marker& marker = markers_[i];
    if (marker.position == position || ns <= marker.high_ns) continue;
    marker.high_ns = ns;
    if (marker.untimed || marker.shift_ns != 0 || is_behind(marker.ns, ns)) must_rebuild_ = true;
  }
}

size_t LogOrder::markers_before(const Position& position) const {
  if (markers_.empty() || markers_.back().position < position) return markers_.size();
  return static_cast<size_t>(
      std::lower_bound(markers_.begin(), markers_.end(), position,
                       [](const Marker& marker, const Position& wanted) { return marker.position < wanted; }) -
      markers_.begin());
}

int64_t LogOrder::shift_at(const Position& position) const {
  if (shifts_.size() == 1) return 0;
  for (size_t i = markers_before(position); i-- > 0;) {
    if (!markers_[i].untimed) return markers_[i].shift_ns;
  }
  return 0;
}

// ---- attempts with ids ----

LogOrder::Labelled* LogOrder::find_labelled(const Event& event) {
  if (event.origin == last_origin_) return last_labelled_;
  const auto found = labelled_by_id_.find(std::string(event.origin->attempt_id));
  last_origin_ = event.origin;
  last_labelled_ = found == labelled_by_id_.end() ? nullptr : found->second;
  return last_labelled_;
}

std::optional<Key> LogOrder::place_labelled(const Event& event) {
  note_labelled(event);
  const Key key = labelled_key(event, find_labelled(event));
  if (event.kind != Kind::kDisruption) high_ns_ = std::max(high_ns_, key.ns);
  return key;
}

Key LogOrder::labelled_key(const Event& event, const Labelled* attempt) {
  Key key{event.time_ns, 0, static_cast<uint8_t>(event.kind == Kind::kJobStart ? 0 : 1), event.position};
  if (attempt != nullptr && attempt->shift_ns != 0) {
    key.ns += attempt->shift_ns;
    key.moved_ns = attempt->first_ns + 1;
  }
  return key;
}

LogOrder::Labelled* LogOrder::add_labelled(const Event& event) {
  auto made = std::make_unique<Labelled>();
  Labelled* attempt = made.get();
  attempt->id = event.origin->attempt_id;
  attempt->host = event.origin->host;
  attempt->first_ns = event.time_ns;
  attempt->first_position = event.position;
  attempt->first_is_start = event.kind == Kind::kJobStart;
  if (const auto alive = unopened_.find(attempt->id); alive != unopened_.end()) {
    std::tie(attempt->last_ns, attempt->last_position) = alive->second;
    unopened_.erase(alive);
  }
  last_labelled_ = attempt;
  labelled_by_id_.emplace(attempt->id, attempt);
  const auto at = std::upper_bound(labelled_.begin(), labelled_.end(), attempt->first_ns,
                                   [](int64_t ns, const auto& other) { return ns < other->first_ns; });
  const auto index = static_cast<size_t>(at - labelled_.begin());
  labelled_.insert(at, std::move(made));
  attempt->shift_ns = host_shift(index);
  add_shift(attempt->shift_ns);
  if (index + 1 < labelled_.size()) {
    if (host_shift(index + 1) != labelled_[index + 1]->shift_ns) must_rebuild_ = true;
  }
  if (shifts_.size() > 1 || !is_surely_last(*attempt)) {
    for (const auto& other : labelled_) note_outliving(*other);
  } else if (index > 0) {
    note_outliving(*labelled_[index - 1]);
  }
  return attempt;
}

void LogOrder::add_shift(int64_t shift_ns) {
  if (shift_ns == 0) return;
  shifts_.push_back(shift_ns);
  std::sort(shifts_.begin(), shifts_.end());
  shifts_.erase(std::unique(shifts_.begin(), shifts_.end()), shifts_.end());
}

bool LogOrder::opens_before(const Event& event, const Labelled& attempt) {
  const bool is_start = event.kind == Kind::kJobStart;
  return std::tuple(event.time_ns, !is_start, event.position) <
         std::tuple(attempt.first_ns, !attempt.first_is_start, attempt.first_position);
}

void LogOrder::note_labelled(const Event& event) {
  const bool trainer = event.process_index() == 0 && event.origin->role.empty() && event.kind != Kind::kDisruption;
  Labelled* attempt = find_labelled(event);
  if (attempt == nullptr) {
    if (!opens_attempt(event)) {
      if (trainer) {
        auto& last = unopened_[std::string(event.origin->attempt_id)];
        last = std::max(last, std::pair(event.time_ns, event.position));
      }
      return;
    }
    attempt = add_labelled(event);
  } else if (opens_attempt(event) && opens_before(event, *attempt)) {
    must_rebuild_ = true;  // where it opens decides what belongs to it, and whether it is moved
  }
  if (!trainer) return;
  const bool last_step = is_step_or_end(event) && event.time_ns > attempt->last_step_ns;
  attempt->note_alive(event);
  if (is_surely_last(*attempt)) return;
  note_outliving(*attempt);
  for (size_t i = 0; last_step && i + 1 < labelled_.size(); ++i) {
    if (labelled_[i].get() == attempt && host_shift(i + 1) != labelled_[i + 1]->shift_ns) must_rebuild_ = true;
  }
}

/// Whether an attempt is the last to open: cheaply, and false where a closer look is needed.
bool LogOrder::is_surely_last(const Labelled& attempt) const {
  return shifts_.size() == 1 && labelled_.back().get() == &attempt &&
         (labelled_.size() == 1 || labelled_[labelled_.size() - 2]->first_ns < attempt.first_ns);
}

/// The attempt that opens next, in the order of keys.
const LogOrder::Labelled* LogOrder::successor_of(const Labelled& attempt) const {
  const Key own = opening_key(attempt);
  const Labelled* next = nullptr;
  for (const auto& other : labelled_) {
    const Key key = opening_key(*other);
    if (own < key && (next == nullptr || key < opening_key(*next))) next = other.get();
  }
  return next;
}

/// An attempt that turns out to have outlived its successor's start died then, and not where it was taken to have died.
void LogOrder::note_outliving(Labelled& attempt) {
  if (attempt.outlives || attempt.last_ns == kNever) return;
  const Labelled* successor = successor_of(attempt);
  Event last;
  last.time_ns = attempt.last_ns;
  last.position = attempt.last_position;
  if (successor == nullptr || labelled_key(last, &attempt) < opening_key(*successor)) return;
  attempt.outlives = true;
  must_rebuild_ = true;
}

Key LogOrder::opening_key(const Labelled& attempt) {
  Event first;
  first.time_ns = attempt.first_ns;
  first.position = attempt.first_position;
  first.kind = attempt.first_is_start ? Kind::kJobStart : Kind::kNone;
  return labelled_key(first, &attempt);
}

std::optional<Key> LogOrder::opening_of(std::string_view id) const {
  const auto found = labelled_by_id_.find(std::string(id));
  if (found == labelled_by_id_.end()) return std::nullopt;
  return opening_key(*found->second);
}

bool LogOrder::outlives_successor(std::string_view id) const {
  const auto found = labelled_by_id_.find(std::string(id));
  return found != labelled_by_id_.end() && found->second->outlives;
}

FindingCount LogOrder::overlapping_attempts() const {
  FindingCount out;
  for (const auto& attempt : labelled_) {
    if (attempt->outlives) out.add(attempt->last_ns + attempt->shift_ns);
  }
  return out;
}

int64_t LogOrder::host_shift(size_t by_start) const {
  if (by_start == 0) return 0;
  const Labelled& own = *labelled_[by_start];
  const Labelled& before = *labelled_[by_start - 1];
  if (own.host == before.host || own.host.empty() || before.host.empty() || before.last_step_ns == kNever) return 0;
  const int64_t early_ns = before.last_step_ns + before.shift_ns - own.first_ns;
  return early_ns >= kHostShiftLeastNs && early_ns <= kHostShiftMostNs ? early_ns : 0;
}

FindingCount LogOrder::clock_skew() const {
  FindingCount out;
  for (const Marker& marker : markers_) {
    if (!marker.untimed && marker.shift_ns != 0) out.add(marker.ns + marker.shift_ns, marker.shift_ns);
  }
  for (const auto& attempt : labelled_) {
    if (attempt->shift_ns != 0) out.add(attempt->first_ns + attempt->shift_ns, attempt->shift_ns);
  }
  return out;
}

FindingCount LogOrder::unplaced_entries() const {
  FindingCount out;
  for (const Marker& marker : markers_) out.count += marker.untimed && marker.ns == kNever ? 1 : 0;
  return out;
}

std::optional<Key> LogOrder::key_of(const Event& event) const {
  if (!counts(event)) return std::nullopt;
  if (is_labelled(event)) {
    const auto found =
        shifts_.size() == 1 ? labelled_by_id_.end() : labelled_by_id_.find(std::string(event.origin->attempt_id));
    return labelled_key(event, found == labelled_by_id_.end() ? nullptr : found->second);
  }
  if (!dropped_.empty() && dropped_.contains(event.position)) return std::nullopt;
  if (event.kind != Kind::kJobStart) return Key{event.time_ns + shift_at(event.position), 0, 1, event.position};
  const size_t at = markers_before(event.position);
  if (at == markers_.size() || markers_[at].position != event.position) return std::nullopt;  // a second delivery
  const int64_t shift_ns = markers_[at].shift_ns;
  return Key{event.time_ns + shift_ns, 0, static_cast<uint8_t>(shift_ns == 0 ? 0 : 1), event.position};
}

// ---- the whole log again ----

Status LogOrder::rebuild(event::Source& source) {
  is_fast_ = false;
  shifts_ = {0};
  dropped_.clear();
  RETURN_IF_ERROR(find_starts(source));
  if (!markers_.empty()) {
    std::vector<int64_t> plain(markers_.size() + 1, kNever);
    std::vector<int64_t> labelled(markers_.size() + 1, kNever);
    RETURN_IF_ERROR(find_highs(source, plain, labelled));
    shift_markers(plain, labelled);
    if (shifts_.size() > 1) RETURN_IF_ERROR(find_redeliveries(source));
  }
  must_rebuild_ = false;
  return {};
}

namespace {

/// Calls `visit` for each counting event of the source but second deliveries: of equal payloads of one time the first
/// in the log counts; `dropped` is told of the others.
template <typename Visit, typename Dropped>
Status visit_once(event::Source& source, int64_t low_ns, int64_t high_ns, Visit visit, Dropped dropped) {
  if (low_ns > high_ns) return {};
  int64_t group_ns = kNever;
  std::unordered_set<uint64_t> group;
  return source.read(low_ns, high_ns + 1, [&](std::span<const Event> events) {
    for (const Event& event : events) {
      if (!counts(event)) continue;
      if (event.time_ns != group_ns) {
        group_ns = event.time_ns;
        group.clear();
      }
      if (event.fingerprint != 0 && !group.insert(event.fingerprint).second) {
        dropped(event);
      } else {
        visit(event);
      }
    }
    return true;
  });
}

}  // namespace

Status LogOrder::find_starts(event::Source& source) {
  markers_.clear();
  labelled_.clear();
  labelled_by_id_.clear();
  unopened_.clear();
  last_origin_ = nullptr;
  RETURN_IF_ERROR(visit_once(
      source, raw_low_ns_, raw_high_ns_,
      [&](const Event& event) {
        if (is_labelled(event)) {
          note_labelled(event);
          Labelled* attempt = find_labelled(event);
          if (attempt != nullptr && opens_attempt(event) && opens_before(event, *attempt)) {
            attempt->first_position = event.position;
            attempt->first_is_start = event.kind == Kind::kJobStart;
          }
        } else if (event.kind == Kind::kJobStart) {
          markers_.push_back({.position = event.position, .fingerprint = event.fingerprint, .ns = event.time_ns});
        }
      },
      [](const Event&) {}));
  shifts_ = {0};
  for (size_t i = 0; i < labelled_.size(); ++i) {
    labelled_[i]->outlives = false;
    labelled_[i]->shift_ns = host_shift(i);
    add_shift(labelled_[i]->shift_ns);
  }
  for (const auto& attempt : labelled_) note_outliving(*attempt);
  std::sort(untimed_log_.begin(), untimed_log_.end(),
            [](const OwnedEvent& a, const OwnedEvent& b) { return a.key() < b.key(); });
  std::unordered_map<uint64_t, Position> kept;  // payload → the latest that counts
  for (const OwnedEvent& entry : untimed_log_) {
    const Event& event = entry.event();
    if (event.fingerprint != 0) {
      const auto before = kept.find(event.fingerprint);
      if (before != kept.end() && is_near(before->second, event.position)) continue;
      kept[event.fingerprint] = event.position;
    }
    markers_.push_back({.position = event.position, .fingerprint = event.fingerprint, .untimed = true});
  }
  std::sort(markers_.begin(), markers_.end(), [](const Marker& a, const Marker& b) { return a.position < b.position; });
  return {};
}

Status LogOrder::find_highs(event::Source& source, std::vector<int64_t>& plain, std::vector<int64_t>& labelled) {
  return visit_once(
      source, raw_low_ns_, raw_high_ns_,
      [&](const Event& event) {
        if (is_plain_job_start(event) || event.kind == Kind::kDisruption) return;
        const size_t bucket = markers_before(event.position);
        if (is_labelled(event)) {
          const Labelled* attempt = find_labelled(event);
          labelled[bucket] = std::max(labelled[bucket], event.time_ns + (attempt == nullptr ? 0 : attempt->shift_ns));
        } else {
          plain[bucket] = std::max(plain[bucket], event.time_ns);
        }
      },
      [](const Event&) {});
}

void LogOrder::shift_markers(const std::vector<int64_t>& plain, const std::vector<int64_t>& labelled) {
  int64_t shift_ns = 0;
  high_ns_ = kNever;
  const auto pass_bucket = [&](size_t bucket) {
    if (plain[bucket] != kNever) high_ns_ = std::max(high_ns_, plain[bucket] + shift_ns);
    high_ns_ = std::max(high_ns_, labelled[bucket]);
  };
  pass_bucket(0);
  for (size_t i = 0; i < markers_.size(); ++i) {
    Marker& marker = markers_[i];
    marker.high_ns = high_ns_;
    if (marker.untimed) {
      marker.ns = high_ns_;
    } else {
      shift_ns = marker.shift_ns = is_behind(marker.ns, high_ns_) ? high_ns_ - marker.ns : 0;
      add_shift(shift_ns);
      high_ns_ = std::max(high_ns_, marker.ns + shift_ns);
    }
    pass_bucket(i + 1);
  }
  untimed_.clear();
  auto entry = untimed_log_.begin();
  for (const Marker& marker : markers_) {
    if (!marker.untimed) continue;
    while (entry->event().position != marker.position) ++entry;  // second deliveries
    if (marker.ns == kNever) continue;                           // nothing before it in the log: malformed
    Event event = entry->event();
    event.time_ns = marker.ns;
    untimed_.emplace_back(event, Key{marker.ns, 0, 1, event.position});
  }
  std::sort(untimed_.begin(), untimed_.end(),
            [](const OwnedEvent& a, const OwnedEvent& b) { return a.key() < b.key(); });
}

Status LogOrder::find_redeliveries(event::Source& source) {
  return visit_once(
      source, raw_low_ns_, raw_high_ns_, [](const Event&) {},
      [&](const Event& event) {
        if (!is_labelled(event)) dropped_.insert(event.position);
      });
}

}  // namespace goodput::ledger
