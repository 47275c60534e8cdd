// SPDX-License-Identifier: Apache-2.0
#include "ledger/partition.h"

#include <algorithm>
#include <utility>

#include "ledger/cover.h"
#include "ledger/quotient.h"
#include "ledger/typical.h"

namespace goodput::ledger {

namespace {

/// The nearest integer to total · part / whole.
int64_t share_of(int64_t total, int64_t part, int64_t whole) {
  return scaled({.num = static_cast<uint128>(total), .den = static_cast<uint128>(whole)}, static_cast<uint64_t>(part));
}

bool is_planned(const DisruptionFacts& facts) { return facts.annotation.has_value() && facts.annotation->planned; }

class Partitioner {
 public:
  Partitioner(const Region& region, std::span<const Owned> owned, const Verdicts& verdicts, const FoldState& state,
              const Surroundings& surroundings, const Options& options, Tally& tally)
      : region_(region),
        verdicts_(verdicts),
        state_(state),
        around_(surroundings),
        options_(options),
        tally_(tally),
        cover_(owned, tally) {}

  RegionAccount run() {
    find_resume_steps();
    last_record_ = region_.record_before;
    for (uint32_t a = 0; a < region_.attempts_end; ++a) put_attempt(a);
    finish_waiting(region_.end_ns, std::nullopt);
    if (!account_.first_record.has_value()) account_.lead = tally_.totals();
    account_.overlapped_loads_ns += region_.overlapped_loads_ns;
    account_.disruptions = static_cast<int64_t>(account_.disruption_facts.size());
    account_.planned = std::count_if(account_.disruption_facts.begin(), account_.disruption_facts.end(), is_planned);
    find_first_steady();
    if (region_.segments_end > 1) trace_waste();
    account_.totals = tally_.totals();
    return std::move(account_);
  }

 private:
  // ---- what a segment is ----

  [[nodiscard]] const Segment& segment(uint32_t k) const { return region_.segments[k]; }
  [[nodiscard]] uint32_t end_of(uint32_t k) const { return std::min(segment(k).end, region_.records_end); }
  [[nodiscard]] const StepRecord& first_of(uint32_t k) const { return region_.records[segment(k).begin]; }
  [[nodiscard]] const StepRecord& last_of(uint32_t k) const { return region_.records[end_of(k) - 1]; }
  [[nodiscard]] bool continues(uint32_t k) const { return k == 0 && region_.continues_segment; }
  [[nodiscard]] bool runs_on(uint32_t k) const {
    return k + 1 == region_.segments_end && !region_.ends_in(segment(k).attempt) &&
           segment(k).attempt + 1 == region_.attempts_end;
  }
  [[nodiscard]] bool ends_attempt(uint32_t k) const {
    return region_.ends_in(segment(k).attempt) &&
           (k + 1 == region_.segments_end || segment(k + 1).attempt != segment(k).attempt);
  }
  /// Its last step is not its first one.
  [[nodiscard]] bool has_intervals(uint32_t k) const {
    return end_of(k) - segment(k).begin > 1 || (continues(k) && region_.continued_intervals > 0);
  }

  void find_resume_steps() {
    resume_.resize(region_.segments_end);
    int64_t lowest = around_.resume_step;
    for (uint32_t k = region_.segments_end; k-- > 0;) {
      resume_[k] = lowest;
      if (continues(k)) continue;
      lowest = std::min(lowest, first_of(k).step);
      account_.lowest_first_step = std::min(account_.lowest_first_step, first_of(k).step);
    }
    account_.open_tail = region_.segments_end > 0 && ends_attempt(region_.segments_end - 1);
    for (uint32_t k = 0; k < region_.segments_end; ++k) {
      account_.steady.add(verdicts_.segments[k].steady);
      account_.highest_step = std::max(account_.highest_step, last_of(k).step);
      if (resume_[k] <= first_of(k).step) continue;  // wholly wasted: nothing left to lose
      if (!has_intervals(k) && !ends_attempt(k)) continue;
      const int64_t below = ends_attempt(k) ? resume_[k] : std::min(resume_[k], last_of(k).step);
      account_.is_sensitive = true;
      account_.sensitive_below = std::max(account_.sensitive_below, below);
    }
  }

  // ---- attempts ----

  void put_attempt(uint32_t a) {
    const AttemptSpan& attempt = region_.attempts[a];
    const Totals before = tally_.totals();
    const uint32_t segments_end = std::min(attempt.segment_end, region_.segments_end);
    const bool ends = region_.ends_in(a);
    int64_t end_ns = ends && (attempt.followed || attempt.dead) ? attempt.death_ns : region_.end_ns;
    AttemptFacts facts;
    int64_t stalled_before_ns = 0;
    if (attempt.segment_begin >= segments_end) {
      cover_.put(std::max(attempt.start_ns, region_.begin_ns), end_ns, TimeClass::kOther);
      if (ends && attempt.followed) tally_.mark(attempt.death_ns);
    } else {
      put_segments(attempt, segments_end);
      const uint32_t last = segments_end - 1;
      facts.last_step = last_of(last).step;
      last_record_ = last_of(last);
      if (ends) {
        stalled_before_ns = tally_.totals().of(TimeClass::kStalled);
        tails_.push_back(region_.segments_end > 1 ? tail_waste(last, attempt) : Waste{});
        if (attempt.followed) tally_.mark(attempt.death_ns);
        end_ns = put_tail(last, attempt, end_ns, cover_, resume_[last]);
      }
    }
    facts.end_ns = end_ns;
    facts.totals = tally_.totals();
    facts.totals.add(before, -1);
    account_.attempts.push_back(std::move(facts));
    if (!ends) return;
    for (const auto& [start_ns, load_end_ns] : attempt.late_loads) {
      account_.overlapped_loads_ns += std::max<int64_t>(0, std::min(load_end_ns, load_limit(attempt)) - start_ns);
    }
    if (attempt.followed) {
      tally_.add(end_ns, attempt.next_start_ns, TimeClass::kInfrastructureRecovery);
      add_restart(a, attempt, segments_end > attempt.segment_begin, stalled_before_ns);
    } else if (attempt.dead) {
      tally_.add(end_ns, region_.end_ns, TimeClass::kInfrastructureRecovery);
    }
  }

  /// Loads are cut at the death of their attempt, later if rule 3 puts it later, or at the job's end.
  [[nodiscard]] int64_t load_limit(const AttemptSpan& attempt) const {
    if (attempt.followed) return account_.attempts.back().end_ns;
    return attempt.dead ? attempt.death_ns : region_.end_ns;
  }

  void put_segments(const AttemptSpan& attempt, uint32_t segments_end) {
    for (uint32_t k = attempt.segment_begin; k < segments_end; ++k) {
      const bool first = k == attempt.segment_begin;
      if (!first) {
        put_rollback(k);
      } else if (!continues(k)) {
        cover_.put(std::max(attempt.start_ns, region_.begin_ns), first_of(k).ns, TimeClass::kOther);
        begin_segment(k);
      }
      put_segment(k);
    }
  }

  void begin_segment(uint32_t k) {
    if (!account_.first_record.has_value()) {
      account_.first_record = first_of(k);
      account_.lead = tally_.totals();
    }
    finish_waiting(first_of(k).ns, k);
  }

  // ---- disruptions ----

  void put_rollback(uint32_t k) {
    const StepRecord& last = last_of(k - 1);
    last_record_ = last;
    DisruptionFacts facts;
    facts.rollback = true;
    facts.ns = last.ns;
    facts.attempt = segment(k).attempt;
    facts.last_step = last.step;
    for (const auto& [led_to, annotation] : region_.rollback_annotations) {
      if (led_to == k) facts.annotation = annotation;
    }
    waiting_.push_back({account_.disruption_facts.size(), tally_.totals()});
    account_.disruption_facts.push_back(std::move(facts));
    cover_.put(last.ns, first_of(k).ns, TimeClass::kInfrastructureRecovery);
    begin_segment(k);
  }

  void add_restart(uint32_t a, const AttemptSpan& attempt, bool has_records, int64_t stalled_before_ns) {
    DisruptionFacts facts;
    facts.ns = attempt.death_ns;
    facts.attempt = a + 1;
    facts.completed_end = attempt.state.completed_ns.has_value();
    if (last_record_.has_value()) facts.last_step = last_record_->step;
    facts.annotation = attempt.annotation;
    facts.exit = attempt.state.exit.has_value() ? attempt.state.exit : attempt.state.exit_zero;
    facts.carries_waste = has_records;
    Totals at_death = tally_.marked();
    if (has_records) facts.stalled_ns = at_death.of(TimeClass::kStalled) - stalled_before_ns;
    waiting_.push_back({account_.disruption_facts.size(), std::move(at_death)});
    account_.disruption_facts.push_back(std::move(facts));
  }

  /// The disruptions without a step record since get the one of segment k; or, at the region's end, wait on.
  void finish_waiting(int64_t at_ns, std::optional<uint32_t> k) {
    for (const auto& [index, totals_before] : waiting_) {
      DisruptionFacts& facts = account_.disruption_facts[index];
      facts.recovery_ns = at_ns - facts.ns;
      facts.recovery = tally_.totals();
      facts.recovery.add(totals_before, -1);
      facts.waiting = !k.has_value();
      if (k.has_value()) {
        facts.resume_step = first_of(*k).step;
        if (facts.carries_waste) led_to_.emplace_back(*k, index);
      }
    }
    waiting_.clear();
  }

  // ---- step intervals ----

  void put_segment(uint32_t k) {
    SegmentPart part = preserved_part(k);
    int64_t excess_ns = 0;
    const bool runs = runs_on(k);
    if (runs) {
      account_.runs_on = true;
      account_.running_steady = verdicts_.segments[k].steady;
    }
    if (continues(k)) account_.entering = part;
    if (runs && continues(k)) account_.one_segment = true;
    if (runs && !continues(k)) account_.leaving = part;
    if (part.warmup.steps > 0 && (!runs || around_.running_excess)) {
      if (runs) part.steady.add(around_.running_after);
      const std::optional<StepSums> mean = mean_of(k, part.steady);
      if (mean.has_value()) excess_ns = startup_excess_ns(part.warmup, *mean);
    }
    const uint32_t end = end_of(k);
    for (uint32_t i = segment(k).begin; i + 1 < end; ++i) put_interval(i, resume_[k], excess_ns);
  }

  void put_interval(uint32_t i, int64_t resume, int64_t& excess_ns) {
    const StepRecord& from = region_.records[i];
    const StepRecord& to = region_.records[i + 1];
    if (from.step >= resume) {
      cover_.put_all(from.ns, to.ns, TimeClass::kWastedProgress);
      return;
    }
    const int64_t steps = to.step - from.step;
    const bool whole = to.step <= resume;
    const int64_t kept_steps = whole ? steps : resume - from.step;
    const int64_t split_ns = whole ? to.ns : from.ns + share_of(to.ns - from.ns, kept_steps, steps);
    const int64_t unowned_ns = verdicts_.unowned_ns[i];
    const Verdict verdict = verdicts_.verdict[i];
    if (verdict == Verdict::kStalled) {
      const int64_t credit_ns = scaled(stalled_typical(i), static_cast<uint64_t>(kept_steps));
      cover_.put_head(from.ns, split_ns, credit_ns, TimeClass::kProductive, TimeClass::kStalled, false);
    } else if (verdict == Verdict::kWarmup && whole && excess_ns > 0) {
      cover_.put_head(from.ns, split_ns, excess_ns, TimeClass::kProgramStartup, TimeClass::kProductive, false);
      excess_ns -= std::min(excess_ns, unowned_ns);
    } else {
      cover_.put(from.ns, split_ns, TimeClass::kProductive);
    }
    cover_.put_all(split_ns, to.ns, TimeClass::kWastedProgress);
    account_.interval_times.push_back({unowned_ns, steps});
    if (around_.with_step_keys) account_.step_keys.push_back(from.step);
    account_.preserved_steps += kept_steps;
    account_.max_productive_step = std::max(account_.max_productive_step, from.step + kept_steps - 1);
  }

  [[nodiscard]] const Quotient& stalled_typical(uint32_t i) const {
    const auto& all = verdicts_.stalled_typical;
    return std::lower_bound(all.begin(), all.end(), i, [](const auto& entry, uint32_t at) { return entry.first < at; })
        ->second;
  }

  /// Sums over the fully preserved intervals of segment k in the region.
  [[nodiscard]] SegmentPart preserved_part(uint32_t k) const {
    SegmentPart part;
    const bool all_steady = resume_[k] >= last_of(k).step;
    if (all_steady) part.steady = verdicts_.segments[k].steady;
    const uint32_t begin = segment(k).begin;
    const uint32_t end = end_of(k);
    for (uint32_t i = begin; i + 1 < end && region_.records[i + 1].step <= resume_[k]; ++i) {
      if (all_steady && i - begin >= kWarmupIntervals) break;
      const int64_t steps = region_.records[i + 1].step - region_.records[i].step;
      if (verdicts_.verdict[i] == Verdict::kWarmup) part.warmup.add(verdicts_.unowned_ns[i], steps);
      if (verdicts_.verdict[i] == Verdict::kSteady && !all_steady) part.steady.add(verdicts_.unowned_ns[i], steps);
    }
    return part;
  }

  /// Rule 9's mean for segment k, whose own preserved steady intervals are `own`.
  [[nodiscard]] std::optional<StepSums> mean_of(uint32_t k, const StepSums& own) {
    if (!own.empty()) return own;
    account_.used_steady_before = true;
    StepSums earlier = around_.steady_before;
    if (region_.continues_segment) {
      earlier = earlier.minus(state_.segment_steady);
      if (k > 0) earlier.add(state_.segment_steady);
    }
    for (uint32_t i = 0; i < k; ++i) earlier.add(verdicts_.segments[i].steady);
    if (!earlier.empty()) return earlier;
    account_.used_later = true;
    FirstSteady later;
    for (uint32_t i = k + 1; i < region_.segments_end && !later.full(); ++i) collect_steady(i, later);
    later.push(runs_on(k) ? around_.later_other : around_.later);
    StepSums sums;
    for (uint8_t i = 0; i < later.size; ++i) sums.add(later.times[i].ns, later.times[i].steps);
    if (sums.empty()) return std::nullopt;
    return sums;
  }

  void collect_steady(uint32_t k, FirstSteady& out) const {
    for (uint32_t i = segment(k).begin; i + 1 < end_of(k) && !out.full(); ++i) {
      if (verdicts_.verdict[i] != Verdict::kSteady) continue;
      out.push(StepTime{verdicts_.unowned_ns[i], region_.records[i + 1].step - region_.records[i].step});
    }
  }

  void find_first_steady() {
    for (uint32_t k = 0; k < region_.segments_end && !account_.first_steady.full(); ++k) {
      collect_steady(k, continues(k) ? account_.first_continued : account_.first_steady);
    }
  }

  // ---- the last step of an attempt (rules 3, 5 and 10) ----

  /// Returns the attempt's death, which a clean resume may put later. `resume`: the resume step to assume.
  int64_t put_tail(uint32_t k, const AttemptSpan& attempt, int64_t end_ns, Cover& cover, int64_t resume) {
    const StepRecord& last = last_of(k);
    const bool completed = attempt.state.completed_ns.has_value();
    const std::optional<int64_t> step_end_ns = believed_end(k, attempt, resume);
    TimeClass into = completed ? TimeClass::kProductive : TimeClass::kOther;
    if (resume != kNoStep && resume <= last.step) {
      into = TimeClass::kWastedProgress;
    } else if (resume != kNoStep) {
      into = TimeClass::kProductive;
      if (!completed && !step_end_ns.has_value()) end_ns = clean_resume_end(k, attempt, resume);
      account_.max_productive_step = std::max(account_.max_productive_step, resume - 1);
      account_.tail_steps += resume - last.step;
    } else if (completed || (step_end_ns.has_value() && *step_end_ns < end_ns)) {
      account_.max_productive_step = std::max(account_.max_productive_step, last.step);
      ++account_.tail_steps;
    }
    if (step_end_ns.has_value() && *step_end_ns < end_ns) {
      const bool wasted = into == TimeClass::kWastedProgress;
      put_tail_part(k, last.ns, *step_end_ns, wasted ? into : TimeClass::kProductive, wasted, cover);
      put_tail_part(k, *step_end_ns, end_ns, TimeClass::kOther, wasted, cover);
    } else {
      put_tail_part(k, last.ns, end_ns, into, into == TimeClass::kWastedProgress, cover);
    }
    return end_ns;
  }

  void put_tail_part(uint32_t k, int64_t from_ns, int64_t to_ns, TimeClass into, bool in_wasted_tail, Cover& cover) {
    if (from_ns >= to_ns) return;
    const std::optional<Quotient>& typical = verdicts_.segments[k].tail_typical;
    if (typical.has_value() && has_intervals(k) && may_be_stalled(to_ns - from_ns, 1, options_) &&
        is_stalled(cover.unowned_ns(from_ns, to_ns), 1, *typical, options_)) {
      cover.put_head(from_ns, to_ns, scaled(*typical, 1), into, TimeClass::kStalled, in_wasted_tail);
      account_.stalled_at_end = to_ns == region_.end_ns;
    } else if (into == TimeClass::kWastedProgress) {
      cover.put_all(from_ns, to_ns, into);
    } else {
      cover.put(from_ns, to_ns, into);
    }
  }

  /// The recorded end of the attempt's last step, where it is believed.
  [[nodiscard]] std::optional<int64_t> believed_end(uint32_t k, const AttemptSpan& attempt, int64_t resume) const {
    const StepRecord& last = last_of(k);
    const std::optional<Quotient>& typical = verdicts_.segments[k].tail_typical;
    if (!typical.has_value() || (resume != kNoStep && resume > last.step + 1)) return std::nullopt;
    for (const int64_t end_ns : attempt.step_ends_ns) {
      const Quotient twice{.num = 2 * static_cast<uint128>(end_ns - last.ns), .den = 1};
      if (!less(twice, *typical)) return end_ns;
    }
    return std::nullopt;
  }

  /// Rule 3: the steps up to the resume step were done; they took as long as steps do.
  [[nodiscard]] int64_t clean_resume_end(uint32_t k, const AttemptSpan& attempt, int64_t resume) {
    const StepRecord& last = last_of(k);
    StepSums own = preserved_part(k).steady;
    if (continues(k)) own.add(state_.segment_steady);
    const std::optional<StepSums> mean = mean_of(k, own);
    int64_t end_ns = attempt.death_ns;
    if (mean.has_value()) {
      const auto room_ns = static_cast<uint128>(attempt.next_start_ns - last.ns);
      const uint128 product = static_cast<uint128>(mean->ns) * static_cast<uint128>(resume - last.step);
      const auto steps = static_cast<uint128>(mean->steps);
      const uint128 length_ns = (2 * product + steps) / (2 * steps);
      end_ns = std::max(end_ns, last.ns + static_cast<int64_t>(std::min(length_ns, room_ns)));
    }
    return std::min(end_ns, attempt.next_start_ns);
  }

  // ---- what each disruption turned into waste, as of its moment ----

  /// An interval, or a tail (tail_ns ≥ 0; both records are then its last one).
  struct Kept {
    StepRecord from, to;
    int64_t end_step;    ///< what an earlier rollback left of an interval
    int64_t tail_ns;     ///< what a tail wastes; -1 for an interval
    int64_t tail_steps;  ///< steps that a tail had completed

    [[nodiscard]] int64_t split_ns(int64_t step) const {
      return from.ns + share_of(to.ns - from.ns, step - from.step, to.step - from.step);
    }
  };

  void trace_waste() {
    std::vector<Kept> kept;  // ascending in steps: what is preserved so far
    auto disruption = led_to_.begin();
    auto tail = tails_.begin();
    int64_t lowest = kNoStep;
    for (uint32_t k = 0; k < region_.segments_end; ++k) {
      const int64_t first_step = first_of(k).step;
      if (!continues(k)) {
        const Waste waste = pop_waste(kept, first_step);
        for (; disruption != led_to_.end() && disruption->first == k; ++disruption) {
          account_.disruption_facts[disruption->second].waste = waste;
          account_.disruption_facts[disruption->second].resume_before = lowest;
        }
        lowest = std::min(lowest, first_step);
      }
      for (uint32_t i = segment(k).begin; i + 1 < end_of(k); ++i) {
        const StepRecord& to = region_.records[i + 1];
        kept.push_back({region_.records[i], to, to.step, -1, 0});
      }
      if (!ends_attempt(k)) continue;
      kept.push_back({last_of(k), last_of(k), last_of(k).step, tail->ns, tail->steps});
      ++tail;
    }
  }

  static Waste pop_waste(std::vector<Kept>& kept, int64_t first_step) {
    Waste waste;
    while (!kept.empty()) {
      Kept& top = kept.back();
      if (top.tail_ns >= 0) {
        const int64_t left = std::max<int64_t>(0, first_step - top.end_step);
        waste.steps += std::max<int64_t>(0, top.tail_steps - left);
        top.tail_steps = left;
        if (left > 0) break;
        waste.ns += top.tail_ns;
      } else {
        if (top.end_step <= first_step) break;
        const int64_t from_step = std::max(first_step, top.from.step);
        waste.ns += top.split_ns(top.end_step) - top.split_ns(from_step);
        waste.steps += top.end_step - from_step;
        top.end_step = from_step;
        if (from_step > top.from.step) break;
      }
      kept.pop_back();
    }
    return waste;
  }

  /// What segment k's tail wastes when a later segment begins at or below its last step; and what it preserves until
  /// one begins.
  Waste tail_waste(uint32_t k, const AttemptSpan& attempt) {
    Tally tally;
    Cover cover = cover_;
    cover.use(tally);
    const int64_t max_step = account_.max_productive_step;
    const int64_t steps = account_.tail_steps;
    put_tail(k, attempt, attempt.death_ns, cover, last_of(k).step);
    Waste waste{tally.totals().of(TimeClass::kWastedProgress), 0};
    Tally unused;
    cover = cover_;
    cover.use(unused);
    put_tail(k, attempt, attempt.death_ns, cover, kNoStep);
    waste.steps = account_.tail_steps - steps;
    account_.max_productive_step = max_step;
    account_.tail_steps = steps;
    return waste;
  }

  struct Waiting {
    size_t index;
    Totals totals_before;
  };

  const Region& region_;
  const Verdicts& verdicts_;
  const FoldState& state_;
  const Surroundings& around_;
  const Options& options_;
  Tally& tally_;
  Cover cover_;
  RegionAccount account_;
  std::vector<int64_t> resume_;
  std::vector<Waste> tails_;  ///< of each attempt that ends in the region with step records
  std::vector<Waiting> waiting_;
  std::vector<std::pair<uint32_t, size_t>> led_to_;  ///< segment → disruption that it ended, ascending
  std::optional<StepRecord> last_record_;
};

}  // namespace

int64_t startup_excess_ns(const StepSums& warmup, const StepSums& mean) {
  const auto ordinary = scaled({.num = static_cast<uint128>(mean.ns), .den = static_cast<uint128>(mean.steps)},
                               static_cast<uint64_t>(warmup.steps));
  return std::max<int64_t>(0, warmup.ns - ordinary);
}

RegionAccount partition(const Region& region, std::span<const Owned> owned, const Verdicts& verdicts,
                        const FoldState& state, const Surroundings& surroundings, const Options& options,
                        Tally& tally) {
  return Partitioner(region, owned, verdicts, state, surroundings, options, tally).run();
}

}  // namespace goodput::ledger
