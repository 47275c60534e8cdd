// Reading back: a stretch under new surroundings, and what late events change in what was settled.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <utility>

#include "ledger/engine.h"

namespace goodput::ledger {

using event::Event;

FoldState Ledger::Engine::state_before(size_t i) const {
  FoldState state;
  if (i == 0) return state;
  if (i == stretches_.size()) return state_;
  std::span<const std::byte> in = std::as_bytes(std::span(stretches_[i - 1].end_state));
  FoldState::decode(in, state);
  return state;
}

Result<Replayed> Ledger::Engine::reread(size_t i, bool without_late) {
  FoldState state = state_before(i);
  Fold fold(state, names_, order_);
  const Key& end_key = stretches_[i].end_key;
  const std::set<Key> late = without_late ? std::set<Key>(late_.begin(), late_.end()) : std::set<Key>();
  RETURN_IF_ERROR(order_.read(
      source_, key_before(i), std::numeric_limits<int64_t>::max(),
      [&](const Key& key, const Event& event) {
        if (!fold.is_cut() && key > end_key) return false;
        fold.add(event, key);
        if (key == end_key) fold.cut();
        return !(fold.is_cut() && fold.settled());
      },
      late));
  if (!fold.is_cut()) {
    must_rebuild_ = true;
    return Status{StatusCode::kUnavailable, "reading back a job's events: one that was there is gone"};
  }
  return Replayed(std::move(state), fold, options_);
}

Status Ledger::Engine::replay(size_t i, const Surroundings& around) {
  Stretch& stretch = stretches_[i];
  if (is_dropped(stretch)) {
    spread(stretch, around.resume_step);
    return {};
  }
  ASSIGN_OR_RETURN(const Replayed replayed, reread(i));
  if (stretch.is_counted) {
    Surroundings before;
    before.resume_step = stretch.resume_step;
    bins_.remove(stretch.interval_times.has_value() ? *stretch.interval_times
                                                    : replayed.account(before).interval_times);
  }
  settled_totals_.add(stretch.totals, -1);
  adopt(stretch, replayed.account(around), around, replayed.region());
  settled_totals_.add(stretch.totals);
  bins_.add(*stretch.interval_times);
  stretch.is_counted = true;
  tail_waste_.clear();
  trim();
  return {};
}

/// The stretch's events are gone: its steps and classes count as evenly spread.
void Ledger::Engine::spread(Stretch& stretch, int64_t resume_step) {
  const int64_t before_step = std::min(stretch.resume_step, stretch.highest_step);
  const int64_t after_step = std::min(resume_step, before_step);
  const int64_t first_step = std::min(stretch.lowest_first_step, before_step - stretch.preserved_steps);
  stretch.is_stale = false;
  stretch.resume_step = std::min(resume_step, stretch.resume_step);
  if (after_step >= before_step || before_step <= first_step) return;
  const int64_t lost = before_step - std::max(after_step, first_step);
  settled_totals_.add(stretch.totals, -1);
  Totals kept;
  for (size_t c = 0; c < kTimeClasses; ++c) {
    const auto time_class = static_cast<TimeClass>(c);
    if (time_class == TimeClass::kCustomBadputEvents) continue;
    const bool stays = time_class == TimeClass::kWastedProgress || time_class == TimeClass::kInfrastructureRecovery;
    const auto lost_ns =
        stays ? 0 : static_cast<int64_t>(static_cast<int128>(stretch.totals.ns[c]) * lost / (before_step - first_step));
    kept.add(time_class, 0, stretch.totals.ns[c] - lost_ns);
    kept.add(TimeClass::kWastedProgress, 0, lost_ns);
  }
  for (const auto& [name, ns] : stretch.totals.custom_ns) {
    const auto lost_ns = static_cast<int64_t>(static_cast<int128>(ns) * lost / (before_step - first_step));
    kept.add(TimeClass::kCustomBadputEvents, name, ns - lost_ns);
    kept.add(TimeClass::kWastedProgress, 0, lost_ns);
  }
  stretch.totals = kept;
  stretch.preserved_steps -= std::min(stretch.preserved_steps, lost);
  stretch.max_productive_step = std::min(stretch.max_productive_step, std::max<int64_t>(after_step - 1, 0));
  settled_totals_.add(stretch.totals);
}

// ---- late events ----

/// Folds on from `state` to the event at `end_key`. Empty when that is no place to end a stretch (any more).
Result<std::optional<Stretch>> Ledger::Engine::fold_stretch(const FoldState& state, const Key& after,
                                                            const Key& end_key, FoldState& end) {
  Fold fold(state, names_, order_);
  bool possible = true;
  Key settled_key;
  RETURN_IF_ERROR(
      order_.read(source_, after, std::numeric_limits<int64_t>::max(), [&](const Key& key, const Event& event) {
        if (!fold.is_cut() && key > end_key) return possible = false;
        fold.add(event, key);
        settled_key = key;
        if (key == end_key) {
          possible = fold.can_cut();
          if (!possible) return false;
          fold.cut();
        }
        return !(fold.is_cut() && fold.settled());
      }));
  if (!possible || !fold.is_cut() || !fold.settled()) return std::optional<Stretch>();
  Replayed replayed(state, fold, options_);
  end = replayed.end();
  Stretch stretch;
  stretch.end_key = end_key;
  stretch.settled_key = settled_key;
  stretch.end_ns = end.begin_ns;
  stretch.begin_ns = state.begin_ns == kNoTime ? replayed.region().attempts.front().start_ns : state.begin_ns;
  stretch.end_state = end.encode();
  Surroundings around;
  adopt(stretch, replayed.account(around), around, replayed.region());
  stretch.is_stale = true;  // its surroundings are worked out with the others'
  return std::optional<Stretch>(std::move(stretch));
}

/// Takes a stretch's step times out of the bins again.
Status Ledger::Engine::uncount(size_t i, bool without_late) {
  Stretch& stretch = stretches_[i];
  if (is_dropped(stretch)) return {};  // it will never be counted anew
  if (!std::exchange(stretch.is_counted, false)) return {};
  if (stretch.interval_times.has_value()) {
    bins_.remove(*stretch.interval_times);
    return {};
  }
  ASSIGN_OR_RETURN(const Replayed replayed, reread(i, without_late));
  Surroundings before;
  before.resume_step = stretch.resume_step;
  bins_.remove(replayed.account(before).interval_times);
  return {};
}

/// From the earliest late event on, until a state agrees with the one that was there.
Status Ledger::Engine::refold() {
  std::sort(late_.begin(), late_.end());
  size_t first = 0;
  while (first < stretches_.size() &&
         (stretches_[first].settled_key < late_.front() || is_dropped(stretches_[first]))) {
    ++first;
  }
  std::vector<Stretch> folded;
  FoldState state = state_before(first);
  Key after = key_before(first);
  size_t next = first;
  bool agrees = false;
  while (next < stretches_.size() && !agrees) {
    FoldState end;
    ASSIGN_OR_RETURN(std::optional<Stretch> stretch, fold_stretch(state, after, stretches_[next].end_key, end));
    ++next;
    if (!stretch.has_value()) continue;  // goes on to the next boundary
    const bool no_more_late = late_.back() <= stretch->end_key;
    agrees = no_more_late && stretch->end_state == stretches_[next - 1].end_state;
    state = std::move(end);
    after = stretch->end_key;
    folded.push_back(std::move(*stretch));
  }
  for (size_t i = first; i < next; ++i) RETURN_IF_ERROR(uncount(i, true));
  late_.clear();
  tail_waste_.clear();
  int64_t highest_step = std::numeric_limits<int64_t>::min();
  for (const Stretch& stretch : folded) highest_step = std::max(highest_step, stretch.highest_step);
  std::vector<Stretch> rest(std::make_move_iterator(stretches_.begin() + static_cast<std::ptrdiff_t>(next)),
                            std::make_move_iterator(stretches_.end()));
  for (Stretch& stretch : rest) {  // what they wasted may have been re-timed
    for (DisruptionEntry& entry : stretch.disruption_entries) entry.waste.reset();
  }
  for (size_t i = first; i < next; ++i) settled_totals_.add(stretches_[i].totals, -1);
  stretches_.resize(first);
  for (Stretch& stretch : folded) {
    settled_totals_.add(stretch.totals);
    bins_.add(*stretch.interval_times);
    stretches_.push_back(std::move(stretch));
  }
  for (size_t i = 0; i < first; ++i) {
    for (DisruptionEntry& entry : stretches_[i].disruption_entries) {
      if (entry.facts.waiting) entry.waste.reset();
    }
  }
  for (Stretch& stretch : rest) stretches_.push_back(std::move(stretch));
  if (!agrees) {
    state_ = std::move(state);
    must_load_tail_ = true;
    tail_.clear();
  }
  settled_key_ = {};
  for (const Stretch& stretch : stretches_) settled_key_ = std::max(settled_key_, stretch.settled_key);
  trim();
  return {};
}

}  // namespace goodput::ledger
