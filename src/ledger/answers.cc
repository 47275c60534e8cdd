// Answers from a prepared ledger.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "ledger/engine.h"
#include "ledger/limits.h"
#include "ledger/typical.h"

namespace goodput::ledger {

namespace {

// A timeline is a picture: of longer jobs its buckets are drawn from whole stretches.
constexpr int64_t kDrawnExactly = 100'000;

/// Sorted, disjoint, without empty or reversed ones.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> out;
  for (const Interval& interval : intervals) {
    if (interval.second <= interval.first) continue;
    if (!out.empty() && interval.first <= out.back().second) {
      out.back().second = std::max(out.back().second, interval.second);
    } else {
      out.push_back(interval);
    }
  }
  return out;
}

std::vector<Interval> without(int64_t from_ns, int64_t to_ns, const std::vector<Interval>& exclusions) {
  std::vector<Interval> out;
  for (const Interval& exclusion : merged(exclusions)) {
    const int64_t until_ns = std::min(exclusion.first, to_ns);
    if (until_ns > from_ns) out.emplace_back(from_ns, until_ns);
    from_ns = std::max(from_ns, std::min(exclusion.second, to_ns));
  }
  if (to_ns > from_ns) out.emplace_back(from_ns, to_ns);
  return out;
}

bool covers(const std::vector<Interval>& inside, int64_t from_ns, int64_t to_ns) {
  return std::any_of(inside.begin(), inside.end(),
                     [&](const Interval& interval) { return interval.first <= from_ns && to_ns <= interval.second; });
}

bool touches(const std::vector<Interval>& inside, int64_t from_ns, int64_t to_ns) {
  return std::any_of(inside.begin(), inside.end(),
                     [&](const Interval& interval) { return interval.first < to_ns && from_ns < interval.second; });
}

int64_t disruptions_in(const RegionAccount& account, int64_t from_ns, int64_t to_ns) {
  return std::count_if(account.disruption_facts.begin(), account.disruption_facts.end(),
                       [&](const DisruptionFacts& facts) { return facts.ns >= from_ns && facts.ns < to_ns; });
}

/// The part of `totals` that falls on `part_ns` of `whole_ns` when every class is spread evenly.
Totals evenly_spread(const Totals& totals, int64_t part_ns, int64_t whole_ns) {
  const auto part_of = [&](int64_t total_ns) {
    return static_cast<int64_t>(static_cast<int128>(total_ns) * part_ns / std::max<int64_t>(1, whole_ns));
  };
  Totals part;
  for (size_t c = 0; c < kTimeClasses; ++c) {
    const auto time_class = static_cast<TimeClass>(c);
    if (time_class != TimeClass::kCustomBadputEvents) part.add(time_class, 0, part_of(totals.ns[c]));
  }
  for (const auto& [name, ns] : totals.custom_ns) part.add(TimeClass::kCustomBadputEvents, name, part_of(ns));
  part.add(TimeClass::kOther, 0, part_ns - part.sum());  // what rounding left
  return part;
}

JobState state_of(const AttemptSpan& last, bool stalled) {
  if (last.state.completed_ns.has_value()) return JobState::kCompleted;
  if (last.state.failed_ns.has_value()) return JobState::kFailed;
  if (last.dead) return JobState::kDead;
  return stalled ? JobState::kStalled : JobState::kRunning;
}

}  // namespace

int64_t Ledger::Engine::start_ns() const {
  return stretches_.empty() ? prepared_->region().attempts.front().start_ns : stretches_.front().begin_ns;
}

Result<Overview> Ledger::Engine::overview(int64_t now_ns) {
  RETURN_IF_ERROR(prepare(now_ns));
  const Tail& tail = *prepared_;
  Overview out;
  out.start_ns = out.whole.from_ns = start_ns();
  out.end_ns = out.whole.to_ns = tail.region().end_ns;
  out.whole.elapsed_ns = std::max<int64_t>(0, out.end_ns - out.start_ns);
  out.state = state_of(tail.region().attempts.back(), tail.account.stalled_at_end);
  out.whole.totals = settled_totals_;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    const int64_t excess_ns = excess_of(i);
    out.whole.totals.add(TimeClass::kProgramStartup, 0, excess_ns);
    out.whole.totals.add(TimeClass::kProductive, 0, -excess_ns);
    out.whole.disruptions += stretch.disruptions;
    out.whole.slices.add(stretch.slices);
    out.attempts += stretch.attempts_begun;
    out.planned_disruptions += stretch.planned;
    out.unlisted_recovered += stretch.unlisted_recovered;
    out.unlisted_recovery_ns += stretch.unlisted_recovery_ns;
    out.max_productive_step = std::max(out.max_productive_step, stretch.max_productive_step);
    out.preserved_steps += stretch.preserved_steps;
    out.overlapped_loads_ns += stretch.overlapped_loads_ns;
    out.events += stretch.events;
    for (size_t k = 0; k < kFindingKinds; ++k) out.findings[k].add(stretch.findings[k]);
    if (is_dropped(stretch)) out.coarse_before_ns = stretch.end_ns;
  }
  const Region& region = tail.region();
  out.whole.totals.add(tail.account.totals);
  out.whole.disruptions += tail.account.disruptions;
  out.planned_disruptions += tail.account.planned;
  out.whole.slices.add(slice_sums(region, region.begin_ns, region.end_ns));
  out.attempts += static_cast<int64_t>(region.attempts.size()) - (region.attempts.front().continues ? 1 : 0);
  out.max_productive_step = std::max(out.max_productive_step, tail.account.max_productive_step);
  out.preserved_steps += tail.account.preserved_steps;
  out.overlapped_loads_ns += tail.account.overlapped_loads_ns;
  out.events += region.events;
  for (size_t k = 0; k < kFindingKinds; ++k) out.findings[k].add(region.findings[k]);
  out.findings[static_cast<size_t>(FindingKind::kClockSkew)].add(order_.clock_skew());
  out.findings[static_cast<size_t>(FindingKind::kOverlappingAttempts)].add(order_.overlapping_attempts());
  out.findings[static_cast<size_t>(FindingKind::kMalformedEntry)].add(order_.unplaced_entries());
  FindingCount& too_late = out.findings[static_cast<size_t>(FindingKind::kTooLate)];
  too_late.count = too_late_;
  too_late.first_ns = too_late_first_ns_;
  if (!region.records.empty()) {
    out.last_step = region.records.back().step;
  } else if (region.record_before.has_value()) {
    out.last_step = region.record_before->step;
  }
  const Verdicts& verdicts = tail.replayed.verdicts();
  if (verdicts.typical.size() >= kLeastTypicalIntervals) {
    out.typical_step_ns = median(verdicts.typical);
  } else if (!verdicts.segments.empty()) {
    out.typical_step_ns = verdicts.segments.back().tail_typical;
  }
  return out;
}

Result<AccountedSpan> Ledger::Engine::account(int64_t now_ns, const Span& span) {
  RETURN_IF_ERROR(prepare(now_ns));
  const Tail& tail = *prepared_;
  const Region& region = tail.region();
  AccountedSpan out;
  out.from_ns = std::max(span.from_ns.value_or(start_ns()), start_ns());
  out.to_ns = std::min(span.to_ns.value_or(region.end_ns), region.end_ns);
  if (out.to_ns < out.from_ns) out.to_ns = out.from_ns;
  const std::vector<Interval> inside = without(out.from_ns, out.to_ns, span.exclusions);
  for (const Interval& interval : inside) out.elapsed_ns += interval.second - interval.first;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    const bool in_window = out.from_ns <= stretch.begin_ns && stretch.end_ns <= out.to_ns;
    if (in_window && covers(inside, stretch.begin_ns, stretch.end_ns)) {
      out.totals.add(settled_totals(i));
      out.disruptions += stretch.disruptions;
      out.slices.add(stretch.slices);
    } else if (touches(inside, stretch.begin_ns, stretch.end_ns) ||
               (out.from_ns < stretch.end_ns && stretch.begin_ns < out.to_ns)) {
      RETURN_IF_ERROR(account_edge(i, inside, out.from_ns, out.to_ns, out));
    }
  }
  const RegionAccount clipped = tail.replayed.account(tail.around, inside);
  out.totals.add(clipped.totals);
  out.disruptions += disruptions_in(clipped, out.from_ns, out.to_ns);
  out.slices.add(slice_sums(region, out.from_ns, out.to_ns));
  return out;
}

Status Ledger::Engine::account_edge(size_t i, std::span<const Interval> inside, int64_t from_ns, int64_t to_ns,
                                    AccountedSpan& out) {
  const Stretch& stretch = stretches_[i];
  if (is_dropped(stretch)) {
    int64_t inside_ns = 0;
    for (const Interval& interval : inside) {
      inside_ns +=
          std::max<int64_t>(0, std::min(interval.second, stretch.end_ns) - std::max(interval.first, stretch.begin_ns));
    }
    out.totals.add(evenly_spread(settled_totals(i), inside_ns, stretch.end_ns - stretch.begin_ns));
    return {};
  }
  ASSIGN_OR_RETURN(const Replayed replayed, reread(i));
  Surroundings around = around_[i];
  around.running_excess = true;
  const RegionAccount clipped = replayed.account(around, inside);
  out.totals.add(clipped.totals);
  out.disruptions += disruptions_in(clipped, from_ns, to_ns);
  out.slices.add(slice_sums(replayed.region(), from_ns, to_ns));
  return {};
}

Result<std::vector<Totals>> Ledger::Engine::timeline(int64_t now_ns, size_t buckets) {
  RETURN_IF_ERROR(prepare(now_ns));
  const Tail& tail = *prepared_;
  const int64_t from_ns = start_ns();
  const int64_t length_ns = tail.region().end_ns - from_ns;
  std::vector<Totals> out(length_ns > 0 ? buckets : 0);
  if (out.empty()) return out;
  const auto edge_ns = [&](size_t i) {
    return from_ns + static_cast<int64_t>(static_cast<int128>(length_ns) * static_cast<int64_t>(i) /
                                          static_cast<int64_t>(buckets));
  };
  int64_t events = 0;
  for (const Stretch& stretch : stretches_) events += stretch.events;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    std::optional<Replayed> replayed;
    if (events <= kDrawnExactly && !is_dropped(stretch)) {
      ASSIGN_OR_RETURN(replayed, reread(i));
    }
    Surroundings around = around_[i];
    around.running_excess = true;
    const Totals totals = settled_totals(i);
    for (size_t b = 0; b < buckets; ++b) {
      const Interval bucket{std::max(edge_ns(b), stretch.begin_ns), std::min(edge_ns(b + 1), stretch.end_ns)};
      if (bucket.first >= bucket.second) continue;
      out[b].add(replayed.has_value()
                     ? replayed->account(around, {&bucket, 1}).totals
                     : evenly_spread(totals, bucket.second - bucket.first, stretch.end_ns - stretch.begin_ns));
    }
  }
  for (size_t b = 0; b < buckets; ++b) {
    const Interval bucket{edge_ns(b), edge_ns(b + 1)};
    if (bucket.second <= tail.region().begin_ns || bucket.first >= bucket.second) continue;
    out[b].add(tail.replayed.account(tail.around, {&bucket, 1}).totals);
  }
  return out;
}

// ---- steps ----

/// The step times of the newest stretches and the tail, in step order: at least so many, where there are.
Status Ledger::Engine::gather_step_times(std::vector<StepTime>& all, size_t at_least) {
  const std::vector<StepTime>& newest = prepared_->account.interval_times;
  size_t count = newest.size();
  size_t first = stretches_.size();
  while (first > 0 && count < at_least) {
    --first;
    Stretch& stretch = stretches_[first];
    if (stretch.step_times > 0 && !stretch.interval_times.has_value() && !is_dropped(stretch)) {
      ASSIGN_OR_RETURN(const Replayed replayed, reread(first));
      stretch.interval_times = replayed.account(around_[first]).interval_times;
    }
    if (stretch.interval_times.has_value()) count += stretch.interval_times->size();
  }
  all.reserve(count);
  for (; first < stretches_.size(); ++first) {
    const auto& held = stretches_[first].interval_times;
    if (held.has_value()) all.insert(all.end(), held->begin(), held->end());
  }
  all.insert(all.end(), newest.begin(), newest.end());
  return {};
}

Result<std::optional<StepFigures>> Ledger::Engine::step_figures(int64_t now_ns) {
  RETURN_IF_ERROR(prepare(now_ns));
  const std::vector<StepTime>& newest = prepared_->account.interval_times;
  const auto count = static_cast<size_t>(bins_.count()) + newest.size();
  constexpr size_t kLatest = kRecentStepTimes + kEarlierStepTimes;
  const bool exact = count <= options_.sizes.exact_step_times;
  std::vector<StepTime> times;
  RETURN_IF_ERROR(gather_step_times(times, exact ? count : kLatest));
  if (exact) return exact_figures(times);
  bins_.add(newest);
  std::optional<StepFigures> figures = binned_figures(bins_, std::span(times).last(std::min(times.size(), kLatest)));
  bins_.remove(newest);
  trim();
  return figures;
}

Status Ledger::Engine::step_times(int64_t now_ns, int64_t from_ns,
                                  FunctionRef<void(int64_t step, const StepTime& time)> visit) {
  RETURN_IF_ERROR(prepare(now_ns));
  const auto visit_region = [&](const Replayed& replayed, Surroundings around) {
    around.with_step_keys = true;
    const RegionAccount account = replayed.account(around);
    for (size_t i = 0; i < account.interval_times.size(); ++i) visit(account.step_keys[i], account.interval_times[i]);
  };
  for (size_t i = 0; i < stretches_.size(); ++i) {
    if (stretches_[i].end_ns <= from_ns || is_dropped(stretches_[i])) continue;
    ASSIGN_OR_RETURN(const Replayed replayed, reread(i));
    visit_region(replayed, around_[i]);
  }
  visit_region(prepared_->replayed, prepared_->around);
  return {};
}

// ---- attempts and disruptions ----

Result<std::vector<AttemptAnswer>> Ledger::Engine::attempts(int64_t now_ns) {
  RETURN_IF_ERROR(prepare(now_ns));
  std::vector<AttemptEntry> entries;
  int64_t begun = 0;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    std::vector<AttemptEntry> more = stretches_[i].attempts;
    const int64_t excess_ns = more.empty() ? 0 : excess_of(i);  // of the segment that runs on: of the last attempt
    if (excess_ns != 0) {
      more.back().totals.add(TimeClass::kProgramStartup, 0, excess_ns);
      more.back().totals.add(TimeClass::kProductive, 0, -excess_ns);
    }
    append_attempts(entries, std::move(more));
    begun += stretches_[i].attempts_begun;
  }
  std::vector<AttemptEntry> tail = attempt_entries(prepared_->region(), prepared_->account);
  begun += static_cast<int64_t>(tail.size()) - (tail.front().continues ? 1 : 0);
  append_attempts(entries, std::move(tail));
  if (!entries.empty() && entries.front().continues)
    entries.erase(entries.begin());  // its beginning is not listed any more
  const size_t shown = std::min(entries.size(), kListed);
  std::vector<AttemptAnswer> out;
  for (size_t i = entries.size() - shown; i < entries.size(); ++i) {
    out.push_back({begun - static_cast<int64_t>(entries.size() - i), std::move(entries[i])});
  }
  return out;
}

/// What the start of a segment at `resume_step` turned into waste in the stretches before `end`, as of that moment:
/// `resume_before` is the lowest first step of the segments between them and it.
Result<Waste> Ledger::Engine::earlier_waste(size_t end, int64_t resume_step, int64_t resume_before) {
  Waste waste;
  for (size_t i = end; i-- > 0 && resume_step < resume_before;) {
    const Stretch& stretch = stretches_[i];
    if ((stretch.highest_step >= resume_step || stretch.open_tail) && !is_dropped(stretch)) {
      ASSIGN_OR_RETURN(const Replayed replayed, reread(i));
      Surroundings around = around_[i];
      around.resume_step = resume_before;
      const RegionAccount before = replayed.account(around);
      around.resume_step = resume_step;
      const RegionAccount after = replayed.account(around);
      waste.ns += after.totals.of(TimeClass::kWastedProgress) - before.totals.of(TimeClass::kWastedProgress);
      waste.steps +=
          std::max<int64_t>(0, before.preserved_steps + before.tail_steps - after.preserved_steps - after.tail_steps);
    }
    resume_before = std::min(resume_before, stretch.lowest_first_step);
  }
  return waste;
}

Result<Waste> Ledger::Engine::waste_of(size_t stretch, size_t entry) {
  DisruptionEntry* disruption = &stretches_[stretch].disruption_entries[entry];
  if (disruption->waste.has_value()) return *disruption->waste;
  if (!disruption->facts.carries_waste) return Waste{};
  Waste waste;
  if (!disruption->facts.waiting) {
    if (disruption->waste_is_stale && !is_dropped(stretches_[stretch])) {
      RETURN_IF_ERROR(replay(stretch, around_[stretch]));
      disruption = &stretches_[stretch].disruption_entries[entry];
    }
    ASSIGN_OR_RETURN(waste, earlier_waste(stretch, *disruption->facts.resume_step, disruption->facts.resume_before));
    waste.ns += disruption->facts.waste.ns;
    waste.steps += disruption->facts.waste.steps;
    disruption->waste = waste;
    return waste;
  }
  // The job went on in a later stretch, or in the tail, or not at all so far.
  for (size_t i = stretch + 1; i < stretches_.size(); ++i) {
    if (!stretches_[i].first_record.has_value()) continue;
    ASSIGN_OR_RETURN(waste, earlier_waste(i, stretches_[i].first_record->step, kNoStep));
    disruption->waste = waste;
    return waste;
  }
  const std::optional<StepRecord>& resumed = prepared_->account.first_record;
  if (!resumed.has_value()) return Waste{};
  return earlier_waste(stretches_.size(), resumed->step, kNoStep);
}

Result<std::vector<DisruptionAnswer>> Ledger::Engine::disruptions(int64_t now_ns) {
  RETURN_IF_ERROR(prepare(now_ns));
  std::vector<DisruptionAnswer> out;
  int64_t begun = 0;
  int64_t total = 0;
  std::vector<size_t> waiting;
  const auto lead_on = [&](const std::optional<StepRecord>& first, const Totals& lead, int64_t end_ns) {
    for (const size_t i : waiting) {
      DisruptionFacts& facts = out[i].facts;
      facts.recovery.add(lead);
      facts.recovery_ns = (first.has_value() ? first->ns : end_ns) - facts.ns;
      if (!first.has_value()) continue;
      facts.resume_step = first->step;
      facts.waiting = false;
    }
    if (first.has_value()) waiting.clear();
  };
  const auto take = [&](const DisruptionFacts& facts, const Waste& waste) {
    if (facts.waiting) waiting.push_back(out.size());
    out.push_back({0, begun + static_cast<int64_t>(facts.attempt) - 1, facts, waste});
  };
  for (size_t i = 0; i < stretches_.size(); ++i) {
    lead_on(stretches_[i].first_record, stretches_[i].lead, stretches_[i].end_ns);
    for (size_t k = 0; k < stretches_[i].disruption_entries.size(); ++k) {
      ASSIGN_OR_RETURN(const Waste waste, waste_of(i, k));
      take(stretches_[i].disruption_entries[k].facts, waste);
    }
    begun += stretches_[i].attempts_begun;
    total += stretches_[i].disruptions;
  }
  const RegionAccount& tail = prepared_->account;
  lead_on(tail.first_record, tail.lead, prepared_->region().end_ns);
  const uint32_t offset = prepared_->region().attempts.front().continues ? 0 : 1;
  for (DisruptionFacts facts : tail.disruption_facts) {
    facts.attempt += offset;
    Waste waste = facts.waste;
    if (facts.resume_step.has_value() && facts.carries_waste) {
      ASSIGN_OR_RETURN(const Waste earlier, earlier_waste(stretches_.size(), *facts.resume_step, facts.resume_before));
      waste.ns += earlier.ns;
      waste.steps += earlier.steps;
    }
    take(facts, waste);
  }
  total += tail.disruptions;
  if (out.size() > kListed) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(kListed));
  for (size_t i = 0; i < out.size(); ++i) out[i].index = total - static_cast<int64_t>(out.size() - i);
  return out;
}

}  // namespace goodput::ledger
