// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine.h"

#include <algorithm>
#include <utility>

#include "ledger/limits.h"
#include "ledger/typical.h"

namespace goodput::ledger {

using event::Event;
using event::Kind;

namespace {

// More late events than this between two answers are no late events but a log out of order.
constexpr size_t kMaxLate = 16'384;

/// The first of each of up to `count` disjoint pairs of neighbours with the fewest events, ascending.
std::vector<size_t> smallest_pairs(const std::vector<Stretch>& stretches, size_t count) {
  std::vector<std::pair<int64_t, size_t>> pairs;
  for (size_t i = 0; i + 1 < stretches.size(); ++i) {
    pairs.emplace_back(stretches[i].events + stretches[i + 1].events, i);
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<bool> taken(stretches.size());
  std::vector<size_t> out;
  for (const auto& [events, i] : pairs) {
    if (out.size() == count) break;
    if (taken[i] || taken[i + 1]) continue;
    taken[i] = taken[i + 1] = true;
    out.push_back(i);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

// ---- arrival ----

void Ledger::Engine::push(std::span<const Event> events) {
  const int64_t oldest_ns = source_.oldest_ns();
  for (const Event& event : events) {
    if (event.time_ns < oldest_ns && !event.has(event::kUntimed)) {
      note_too_late(event.time_ns);
      continue;
    }
    // As below, for what nearly all events are: going through place() and take_in_bulk() costs an eighth more.
    if (bulk_.has_value() && order_.goes_fast(event) && event.time_ns > bulk_key_.ns) {
      bulk_instant_.clear();
      if (event.fingerprint != 0) bulk_instant_.push_back(event.fingerprint);
      fold_in_bulk(event, order_.place_fast(event));
      continue;
    }
    const std::optional<Key> key = order_.place(event);
    if (!key.has_value() || order_.must_rebuild() || must_rebuild_) continue;
    if (bulk_.has_value() && take_in_bulk(event, *key)) continue;
    insert(event, *key);
    if (tail_.size() >= std::max(options_.sizes.tail_most, settle_at_)) {
      settle(options_.sizes.tail_least);
      if (settle_at_ == 0 && late_.empty() && !must_load_tail_) begin_bulk();
    }
  }
  prepared_.reset();
}

void Ledger::Engine::note_too_late(int64_t ns) {
  ++too_late_;
  if (too_late_first_ns_ == kNoTime || ns < too_late_first_ns_) too_late_first_ns_ = ns;
}

/// Of a stretch whose events are gone, if only in part, nothing can be told anew.
bool Ledger::Engine::is_in_dropped(int64_t ns) const {
  const auto at = std::lower_bound(stretches_.begin(), stretches_.end(), ns,
                                   [](const Stretch& stretch, int64_t wanted) { return stretch.end_ns < wanted; });
  return at != stretches_.end() && is_dropped(*at);
}

// ---- in bulk: what comes in order is folded as it comes ----

/// Between two answers a full tail has come: more is likely to follow, and copying it all would cost twice the folding.
void Ledger::Engine::begin_bulk() {
  if (tail_.empty()) return;
  bulk_.emplace(state_, names_, order_);
  for (const OwnedEvent& entry : tail_) bulk_->add(entry.event(), entry.key());
  bulk_key_ = tail_.back().key();
  bulk_instant_.clear();
  for (size_t i = tail_.size(); i-- > 0 && tail_[i].ns() == bulk_key_.ns;) {
    bulk_instant_.push_back(tail_[i].event().fingerprint);
  }
  tail_.clear();
}

void Ledger::Engine::leave_bulk() {
  if (!bulk_.has_value()) return;
  newest_key_ = std::max(newest_key_, bulk_key_);
  bulk_.reset();
  must_load_tail_ = true;
}

/// False, with the bulk left, for an event that does not come after all others.
bool Ledger::Engine::take_in_bulk(const Event& event, const Key& key) {
  if (key <= bulk_key_) {
    leave_bulk();
    return false;
  }
  if (key.ns != bulk_key_.ns) {
    bulk_instant_.clear();
  } else if (event.fingerprint != 0 &&
             std::find(bulk_instant_.begin(), bulk_instant_.end(), event.fingerprint) != bulk_instant_.end()) {
    return true;
  }
  if (event.fingerprint != 0) bulk_instant_.push_back(event.fingerprint);
  fold_in_bulk(event, key);
  return true;
}

void Ledger::Engine::fold_in_bulk(const Event& event, const Key& key) {
  bulk_->add(event, key);
  bulk_key_ = key;  // after add(): a copy of what has just been written field by field waits for the stores
  const auto events = static_cast<size_t>(bulk_->events());
  if (events >= options_.sizes.tail_most + options_.sizes.batch_most) {
    if (bulk_->can_cut() && !bulk_->anything_open()) {
      bulk_->cut();
      settle_at_cut(*bulk_, key, key);
      bulk_.emplace(state_, names_, order_);
    } else if (events > 8 * (options_.sizes.tail_most + options_.sizes.batch_most)) {
      leave_bulk();  // something stays open over many events
    }
  }
}

void Ledger::Engine::insert(const Event& event, const Key& key) {
  const bool custom = event.kind == Kind::kCustomStart || event.kind == Kind::kCustomEnd;
  if (custom && key < newest_key_ && !names_.known(event.name)) late_name_ = true;
  newest_key_ = std::max(newest_key_, key);
  if (key <= settled_key_ || (!stretches_.empty() && key.ns <= stretches_.back().end_ns)) {
    // What decided the fate of events open at a boundary is as settled as what lies before it; and of the boundary's
    // own instant this may be a second delivery: the source tells.
    if (is_in_dropped(key.ns)) {
      note_too_late(key.ns);
      return;
    }
    if (key <= settled_key_) late_.push_back(key);
    if (late_.size() > kMaxLate) {
      must_rebuild_ = true;
      late_.clear();
    }
    if (key > stretches_.back().end_key) {
      must_load_tail_ = true;
      tail_.clear();
    }
    return;
  }
  if (must_load_tail_) return;  // it will be read from the source, with this event
  size_t at = tail_.size();
  if (!tail_.empty() && key < tail_.back().key()) {
    at = static_cast<size_t>(std::upper_bound(tail_.begin(), tail_.end(), key,
                                              [](const Key& a, const OwnedEvent& b) { return a < b.key(); }) -
                             tail_.begin());
  }
  if (event.fingerprint != 0 && is_redelivery_in_tail(event, key, at)) return;
  tail_.emplace(tail_.begin() + static_cast<std::ptrdiff_t>(at), event, key);
}

bool Ledger::Engine::is_redelivery_in_tail(const Event& event, const Key& key, size_t at) {
  const auto same = [&](const OwnedEvent& other) {
    return other.event().fingerprint == event.fingerprint && other.event().time_ns == event.time_ns;
  };
  for (size_t i = at; i-- > 0 && tail_[i].ns() == key.ns;) {
    if (same(tail_[i])) return true;
  }
  for (size_t i = at; i < tail_.size() && tail_[i].ns() == key.ns; ++i) {
    if (!same(tail_[i])) continue;
    tail_.erase(tail_.begin() + static_cast<std::ptrdiff_t>(i));  // the first in the log counts
    break;
  }
  return false;
}

// ---- settling ----

void Ledger::Engine::settle(size_t keep) {
  Fold fold(state_, names_, order_);
  size_t settled = 0;
  Key settled_key;
  for (size_t i = 0; i < tail_.size(); ++i) {
    fold.add(tail_[i].event(), tail_[i].key());
    if (!fold.is_cut() && i + keep >= tail_.size() && fold.can_cut()) {
      fold.cut();
      settled = i + 1;
    }
    settled_key = tail_[i].key();
    if (fold.is_cut() && fold.settled()) break;
  }
  if (!fold.is_cut() || !fold.settled()) {
    settle_at_ = tail_.size() + tail_.size() / 2;  // something stays open over many events: look again later
    return;
  }
  settle_at_ = 0;
  settle_at_cut(fold, tail_[settled - 1].key(), settled_key);
  tail_.erase(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(settled));
  if (tail_.capacity() > 2 * (options_.sizes.tail_most + options_.sizes.batch_most)) tail_.shrink_to_fit();
}

/// Makes a stretch of what `fold`, cut and settled, has read since the last one.
void Ledger::Engine::settle_at_cut(Fold& fold, const Key& end_key, const Key& settled_key) {
  Stretch stretch;
  stretch.end_key = end_key;
  stretch.settled_key = settled_key;
  Replayed replayed(state_, fold, options_);
  Surroundings around;
  for (const Stretch& earlier : stretches_) around.steady_before.add(earlier.steady);
  state_ = replayed.end();
  stretch.end_state = state_.encode();
  stretch.end_ns = state_.begin_ns;
  stretch.begin_ns = stretches_.empty() ? replayed.region().attempts.front().start_ns : stretches_.back().end_ns;
  adopt(stretch, replayed.account(around), around, replayed.region());
  add_stretch(std::move(stretch));
}

void Ledger::Engine::add_stretch(Stretch&& stretch) {
  bins_.add(*stretch.interval_times);
  settled_totals_.add(stretch.totals);
  settled_key_ = std::max(settled_key_, stretch.settled_key);
  stretches_.push_back(std::move(stretch));
  tail_waste_.clear();
  trim();
  if (stretches_.size() > options_.sizes.stretches) join_stretches();
}

void Ledger::Engine::trim() {
  int64_t step_times = 0;
  int64_t attempts = 0;
  int64_t disruptions = 0;
  const bool exact = bins_.count() <= static_cast<int64_t>(options_.sizes.exact_step_times);
  for (size_t i = stretches_.size(); i-- > 0;) {
    Stretch& stretch = stretches_[i];
    if (!exact && step_times >= static_cast<int64_t>(options_.sizes.held_step_times)) stretch.interval_times.reset();
    const auto listed = static_cast<int64_t>(kListed);
    const auto attempts_left = static_cast<size_t>(std::max<int64_t>(0, listed - attempts));
    if (stretch.attempts.size() > attempts_left) {
      stretch.attempts.erase(stretch.attempts.begin(),
                             stretch.attempts.end() - static_cast<std::ptrdiff_t>(attempts_left));
    }
    unlist_disruptions(i, static_cast<size_t>(std::max<int64_t>(0, listed - disruptions)));
    step_times += stretch.step_times;
    attempts += stretch.attempts_begun;
    disruptions += stretch.disruptions;
  }
}

/// Keeps the latest `left` disruptions of a stretch; of the others only how long it took to recover.
void Ledger::Engine::unlist_disruptions(size_t i, size_t left) {
  std::vector<DisruptionEntry>& entries = stretches_[i].disruption_entries;
  if (entries.size() <= left) return;
  const auto end = entries.end() - static_cast<std::ptrdiff_t>(left);
  for (auto entry = entries.begin(); entry != end; ++entry) {
    int64_t recovered_ns = entry->facts.ns + entry->facts.recovery_ns;
    bool recovered = !entry->facts.waiting;
    for (size_t k = i + 1; k < stretches_.size() && !recovered; ++k) {
      if (!stretches_[k].first_record.has_value()) continue;
      recovered = true;
      recovered_ns = stretches_[k].first_record->ns;
    }
    if (!recovered) continue;
    ++stretches_[i].unlisted_recovered;
    stretches_[i].unlisted_recovery_ns += recovered_ns - entry->facts.ns;
  }
  entries.erase(entries.begin(), end);
}

/// Joins the neighbours that make the smallest stretches together.
void Ledger::Engine::join_stretches() {
  const size_t wanted = options_.sizes.stretches - options_.sizes.stretches / 8;
  while (stretches_.size() > wanted) {
    const std::vector<size_t> firsts = smallest_pairs(stretches_, stretches_.size() - wanted);
    for (const size_t i : firsts) {
      // Where they disagree the pair is read back later, and is then no longer what its step times were counted as.
      if (agree(stretches_[i], stretches_[i + 1])) continue;
      if (!uncount(i, false).ok() || !uncount(i + 1, false).ok()) must_rebuild_ = true;
    }
    size_t kept = 0;
    auto next = firsts.begin();
    for (size_t i = 0; i < stretches_.size(); ++i, ++kept) {
      if (kept != i) stretches_[kept] = std::move(stretches_[i]);
      if (next == firsts.end() || *next != i) continue;
      ++next;
      ++i;
      settled_totals_.add(stretches_[kept].totals, -1);
      settled_totals_.add(stretches_[i].totals, -1);
      join(stretches_[kept], std::move(stretches_[i]));
      settled_totals_.add(stretches_[kept].totals);
    }
    stretches_.resize(kept);
  }
}

// ---- getting ready to answer ----

Status Ledger::Engine::prepare(int64_t now_ns) {
  if (prepared_.has_value() && prepared_->now_ns == now_ns) return {};
  leave_bulk();
  if (order_.must_rebuild() || must_rebuild_) RETURN_IF_ERROR(rebuild());
  if (!late_.empty()) RETURN_IF_ERROR(refold());
  if (must_load_tail_) RETURN_IF_ERROR(load_tail());
  RETURN_IF_ERROR(fold_tail(now_ns));
  if (late_name_ && names_.full()) {  // which 256 names come first?
    RETURN_IF_ERROR(rebuild());
    RETURN_IF_ERROR(fold_tail(now_ns));
  }
  late_name_ = false;
  return refresh_stretches();
}

Status Ledger::Engine::rebuild() {
  bulk_.reset();
  bulk_key_ = {};
  RETURN_IF_ERROR(order_.rebuild(source_));
  // What is gone cannot be read again: its account stands.
  const auto dropped_end =
      std::find_if(stretches_.begin(), stretches_.end(), [&](const Stretch& stretch) { return !is_dropped(stretch); });
  const auto dropped = static_cast<size_t>(dropped_end - stretches_.begin());
  FoldState state;
  if (dropped > 0) {
    std::span<const std::byte> in = std::as_bytes(std::span(stretches_[dropped - 1].end_state));
    FoldState::decode(in, state);
  } else {
    names_ = {};
  }
  stretches_.erase(dropped_end, stretches_.end());
  state_ = std::move(state);
  settled_key_ = newest_key_ = {};
  settled_totals_ = {};
  bins_ = {};
  for (Stretch& stretch : stretches_) {
    settled_key_ = std::max(settled_key_, stretch.settled_key);
    settled_totals_.add(stretch.totals);
    stretch.is_counted = stretch.is_counted && stretch.interval_times.has_value();
    if (stretch.is_counted) bins_.add(*stretch.interval_times);
  }
  late_.clear();
  must_rebuild_ = false;
  return load_tail();
}

Status Ledger::Engine::load_tail() {
  must_load_tail_ = false;
  tail_.clear();
  tail_waste_.clear();
  const auto take = [&](const Key& key, const Event& event) {
    tail_.emplace_back(event, key);
    if (tail_.size() >= std::max(options_.sizes.tail_most, settle_at_)) settle(options_.sizes.tail_least);
  };
  RETURN_IF_ERROR(read_on([&](const Key& key, const Event& event) {
    if (bulk_.has_value()) return take_in_bulk(event, key) && bulk_.has_value();
    const size_t settled = stretches_.size();
    take(key, event);
    if (stretches_.size() > settled) begin_bulk();
    return true;
  }));
  if (!bulk_.has_value() && !must_load_tail_) return {};
  bulk_.reset();  // what it read since its last stretch is the tail
  must_load_tail_ = false;
  tail_.clear();
  return read_on([&](const Key& key, const Event& event) {
    take(key, event);
    return true;
  });
}

/// The events after the last stretch.
Status Ledger::Engine::read_on(LogOrder::Sink sink) {
  return order_.read(source_, key_before(stretches_.size()), std::numeric_limits<int64_t>::max(),
                     [&](const Key& key, const Event& event) {
                       newest_key_ = std::max(newest_key_, key);
                       return sink(key, event);
                     });
}

Status Ledger::Engine::fold_tail(int64_t now_ns) {
  prepared_.reset();
  if (tail_.empty() && stretches_.empty()) return {StatusCode::kNotFound, "accounting a job: it has no events"};
  Fold fold(state_, names_, order_);
  for (const OwnedEvent& entry : tail_) fold.add(entry.event(), entry.key());
  Surroundings around;
  int64_t last_event_ns = kNoTime;
  for (const Stretch& stretch : stretches_) {
    around.steady_before.add(stretch.steady);
    last_event_ns = std::max(last_event_ns, stretch.last_event_ns);
  }
  fold.close(now_ns, options_.dead_after_ns, last_event_ns);
  Replayed replayed(state_, fold, options_);
  if (replayed.region().attempts.empty()) return {StatusCode::kNotFound, "accounting a job: it has no events"};
  RegionAccount account = replayed.account(around);
  prepared_.emplace(Tail{now_ns, std::move(replayed), around, std::move(account)});
  return {};
}

Status Ledger::Engine::refresh_stretches() {
  const RegionAccount& tail = prepared_->account;
  around_.resize(stretches_.size());
  StepSums steady;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    around_[i].steady_before = steady;
    steady.add(stretches_[i].steady);
  }
  int64_t resume_step = tail.lowest_first_step;
  FirstSteady later_other = tail.first_steady;
  FirstSteady later = tail.first_continued;
  later.push(tail.first_steady);
  StepSums running_after = tail.entering.steady;
  for (size_t i = stretches_.size(); i-- > 0;) {
    Surroundings& around = around_[i];
    around.resume_step = resume_step;
    around.later = later;
    around.later_other = later_other;
    around.running_after = running_after;
    Stretch& stretch = stretches_[i];
    const bool resumed_lower =
        resume_step != stretch.resume_step &&
        (resume_step > stretch.resume_step || (stretch.is_sensitive && resume_step < stretch.sensitive_below));
    if (stretch.is_stale || resumed_lower ||
        (stretch.used_steady_before && around.steady_before != stretch.steady_before) ||
        (stretch.used_later && (around.later != stretch.later || around.later_other != stretch.later_other))) {
      RETURN_IF_ERROR(replay(i, around));
    } else {
      stretch.resume_step = resume_step;
    }
    resume_step = std::min(resume_step, stretch.lowest_first_step);
    FirstSteady from_here = stretch.first_continued;
    from_here.push(stretch.first_steady);
    from_here.push(later);
    if (!stretch.one_segment) {
      later_other = stretch.first_steady;
      later_other.push(later);
    }
    later = from_here;
    StepSums entering = stretch.entering.steady;
    if (stretch.one_segment) entering.add(running_after);
    running_after = entering;
  }
  return {};
}

/// Rule 9's start-up time of the segment that runs on from stretch i, which is still counted as productive there.
int64_t Ledger::Engine::excess_of(size_t i) const {
  const Stretch& stretch = stretches_[i];
  if (!stretch.runs_on) return 0;
  const SegmentPart& part = stretch.one_segment ? stretch.entering : stretch.leaving;
  if (part.warmup.steps == 0) return 0;
  StepSums mean = part.steady;
  mean.add(around_[i].running_after);
  if (mean.empty()) {
    mean = around_[i].steady_before;
    mean.add(stretch.steady.minus(stretch.running_steady));
  }
  if (mean.empty()) {
    for (uint8_t k = 0; k < around_[i].later_other.size; ++k) {
      mean.add(around_[i].later_other.times[k].ns, around_[i].later_other.times[k].steps);
    }
  }
  return mean.empty() ? 0 : startup_excess_ns(part.warmup, mean);
}

Totals Ledger::Engine::settled_totals(size_t i) const {
  Totals totals = stretches_[i].totals;
  const int64_t excess_ns = excess_of(i);
  totals.add(TimeClass::kProgramStartup, 0, excess_ns);
  totals.add(TimeClass::kProductive, 0, -excess_ns);
  return totals;
}

}  // namespace goodput::ledger
