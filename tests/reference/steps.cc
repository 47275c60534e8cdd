// Rules 2, 9 and 10 for step intervals: share, typical step time, warm-up, stall, mean.
// SPDX-License-Identifier: Apache-2.0
#include "reference/steps.h"

#include <algorithm>
#include <deque>

namespace goodput::reference {
namespace {

constexpr size_t kTypicalOf = 101;
constexpr size_t kTypicalFrom = 5;
constexpr size_t kWarmUpMost = 5;
constexpr size_t kSettledBy = 3;  ///< intervals 6, 7 and 8
constexpr size_t kLaterIntervals = 3;

/// The job's latest 101 per-step times, first intervals of segments left out.
class RecentSteps {
 public:
  void add(const Rational& per_step_ns) {
    in_time_order_.push_back(per_step_ns);
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), per_step_ns), per_step_ns);
    if (in_time_order_.size() <= kTypicalOf) return;
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), in_time_order_.front()));
    in_time_order_.pop_front();
  }
  [[nodiscard]] std::optional<Rational> typical() const {
    const size_t n = sorted_.size();
    if (n < kTypicalFrom) return std::nullopt;
    return n % 2 == 1 ? sorted_[n / 2] : Rational((sorted_[n / 2 - 1] + sorted_[n / 2]) / 2);
  }

 private:
  std::deque<Rational> in_time_order_;
  std::vector<Rational> sorted_;
};

std::vector<std::optional<int64_t>> resume_steps(const Job& job) {
  std::vector<std::optional<int64_t>> resume(job.segments.size());
  std::optional<int64_t> lowest;
  for (size_t k = job.segments.size(); k-- > 0;) {
    resume[k] = lowest;
    const int64_t first = job.segments[k].steps.front().step;
    lowest = std::min(lowest.value_or(first), first);
  }
  return resume;
}

/// Rule 2.
Rational share(const StepInterval& interval, std::optional<int64_t> resume_step) {
  if (!resume_step || interval.next_step <= *resume_step) return 1;
  if (interval.first_step >= *resume_step) return 0;
  return Rational(*resume_step - interval.first_step, interval.steps());
}

std::vector<StepInterval> intervals_of(const Segment& segment, const Owners& owners,
                                       std::optional<int64_t> resume_step) {
  std::vector<StepInterval> intervals;
  for (size_t k = 0; k + 1 < segment.steps.size(); ++k) {
    const StepRecord &from = segment.steps[k], &to = segment.steps[k + 1];
    StepInterval interval{
        .first_step = from.step, .next_step = to.step, .start_ns = from.time_ns, .end_ns = to.time_ns};
    interval.unowned_ns = owners.unowned_time(from.time_ns, to.time_ns);
    interval.per_step_ns = interval.unowned_ns / interval.steps();
    interval.preserved_share = share(interval, resume_step);
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

/// Warm-up and stalls of one segment; `recent` is what came before it, and takes it in.
void judge(std::vector<StepInterval>& segment, RecentSteps& recent, std::optional<Rational>& settled,
           const Options& options) {
  if (segment.size() >= kWarmUpMost + kSettledBy) {
    settled = median(
        {segment[kWarmUpMost].per_step_ns, segment[kWarmUpMost + 1].per_step_ns, segment[kWarmUpMost + 2].per_step_ns});
  }
  const std::optional<Rational> reference = settled ? settled : recent.typical();
  for (size_t k = 0; k < segment.size(); ++k) {
    const Rational& per_step = segment[k].per_step_ns;
    const bool unlike = reference && (per_step > 2 * *reference || 2 * per_step < *reference);
    segment[k].warm_up = k == 0 || (k < kWarmUpMost && segment[k - 1].warm_up && unlike);
  }
  for (size_t k = 0; k < segment.size(); ++k) {
    StepInterval& interval = segment[k];
    if (!interval.warm_up) {
      interval.typical_ns = recent.typical() ? recent.typical() : settled;
      interval.stalled = is_stalled(interval.unowned_ns, interval.steps(), interval.typical_ns, options);
    }
    if (k > 0) recent.add(interval.per_step_ns);
  }
}

bool is_steady(const StepInterval& interval) { return !interval.warm_up && !interval.stalled; }

/// Unowned time over steps; nothing where there is no interval.
std::optional<Rational> mean_of(const std::vector<const StepInterval*>& intervals) {
  if (intervals.empty()) return std::nullopt;
  Rational time = 0, steps = 0;
  for (const StepInterval* interval : intervals) {
    time += interval->unowned_ns;
    steps += interval->steps();
  }
  return Rational(time / steps);
}

}  // namespace

Rational median(std::vector<Rational> values) { return percentile(std::move(values), 50); }

Rational percentile(std::vector<Rational> values, int percent) {
  std::sort(values.begin(), values.end());
  const size_t scaled = (values.size() - 1) * static_cast<size_t>(percent);
  const size_t below = scaled / 100, above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * Rational(scaled % 100, 100);
}

bool is_stalled(const Rational& unowned_ns, int64_t steps, const std::optional<Rational>& typical_ns,
                const Options& options) {
  if (!typical_ns || options.stall_factor == 0 || options.stall_floor_ns == 0) return false;
  const Rational bound =
      std::max(Rational(options.stall_factor * *typical_ns), Rational(*typical_ns + options.stall_floor_ns));
  return unowned_ns > bound * steps;
}

std::optional<Rational> Steps::mean_ns(size_t segment) const {
  std::vector<const StepInterval*> own, earlier, later;
  for (size_t k = 0; k < by_segment.size(); ++k) {
    for (const StepInterval& interval : by_segment[k]) {
      if (!is_steady(interval)) continue;
      if (k < segment) earlier.push_back(&interval);
      if (k == segment && interval.preserved_share == 1) own.push_back(&interval);
      if (k > segment && later.size() < kLaterIntervals) later.push_back(&interval);
    }
  }
  const std::optional<Rational> mean = !own.empty() ? mean_of(own) : mean_of(earlier);
  return mean ? mean : mean_of(later);
}

Steps judge_steps(const Job& job, const Options& options) {
  Steps steps;
  for (const Attempt& attempt : job.attempts) steps.owners.emplace_back(attempt.events);
  steps.resume_step = resume_steps(job);
  RecentSteps recent;
  for (size_t k = 0; k < job.segments.size(); ++k) {
    const Segment& segment = job.segments[k];
    std::vector<StepInterval> intervals = intervals_of(segment, steps.owners[segment.attempt], steps.resume_step[k]);
    std::optional<Rational> settled;
    judge(intervals, recent, settled, options);
    steps.by_segment.push_back(std::move(intervals));
    steps.tail_typical_ns.push_back(recent.typical() ? recent.typical() : settled);
  }
  steps.typical_ns = steps.tail_typical_ns.empty() ? std::nullopt : steps.tail_typical_ns.back();
  return steps;
}

}  // namespace goodput::reference
