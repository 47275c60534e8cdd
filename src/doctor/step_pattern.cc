// SPDX-License-Identifier: Apache-2.0
#include "doctor/step_pattern.h"

#include <algorithm>
#include <map>

namespace goodput::doctor {
namespace {

// Jitter doubles a step now and then; an evaluation takes many steps' time.
constexpr double kLongFactor = 2.0;
constexpr size_t kMostLongSteps = 10'000;
// A period shows between neighbours, and across one or two long steps that have another reason.
constexpr size_t kNeighbours = 3;
constexpr size_t kMostPeriods = 16;
// Of what all long steps between take: in a slow stretch every second step has a period, and takes half.
constexpr double kLeastPart = 0.6;

/// The most frequent distances between long steps.
std::vector<int64_t> likely_periods(std::span<const LongStep> steps) {
  std::map<int64_t, int64_t> counts;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (size_t k = 1; k <= kNeighbours && k <= i; ++k) {
      const int64_t distance = steps[i].step - steps[i - k].step;
      if (distance > 1) ++counts[distance];
    }
  }
  std::vector<std::pair<int64_t, int64_t>> by_count;
  for (const auto& [distance, count] : counts) by_count.emplace_back(-count, distance);
  std::sort(by_count.begin(), by_count.end());
  if (by_count.size() > kMostPeriods) by_count.resize(kMostPeriods);
  std::vector<int64_t> periods;
  for (const auto& [count, distance] : by_count) periods.push_back(distance);
  return periods;
}

/// Those that exceed the mean: what takes much and comes seldom is not hidden by what comes often.
std::vector<LongStep> larger_half(std::span<const LongStep> steps) {
  double sum = 0;
  for (const LongStep& step : steps) sum += step.excess_seconds;
  std::vector<LongStep> larger;
  for (const LongStep& step : steps) {
    if (step.excess_seconds * static_cast<double>(steps.size()) > sum) larger.push_back(step);
  }
  return larger;
}

/// Of all steps from `first` to `last`.
double seconds_between(std::span<const LongStep> steps, int64_t first, int64_t last) {
  double seconds = 0;
  for (const LongStep& step : steps) {
    if (step.step >= first && step.step <= last) seconds += step.excess_seconds;
  }
  return seconds;
}

struct Phase {
  int64_t first = 0, last = 0, count = 0;
  double seconds = 0;
};

/// Of the steps with one remainder by `period`, those that come at nearly every turn and take most.
std::optional<RegularStall> stall_of(std::span<const LongStep> steps, int64_t period) {
  std::map<int64_t, Phase> phases;
  for (const LongStep& step : steps) {
    Phase& phase = phases[((step.step % period) + period) % period];
    if (phase.count++ == 0) phase.first = step.step;
    phase.last = step.step;
    phase.seconds += step.excess_seconds;
  }
  std::optional<RegularStall> best;
  for (const auto& [remainder, phase] : phases) {
    const int64_t turns = (phase.last - phase.first) / period + 1;
    if (phase.count < kLeastRepetitions) continue;
    if (static_cast<double>(phase.count) < kLeastCoverage * static_cast<double>(turns)) continue;
    if (best.has_value() && best->total_seconds >= phase.seconds) continue;
    if (phase.seconds < kLeastPart * seconds_between(steps, phase.first, phase.last)) continue;
    best = {.period = period,
            .first_step = phase.first,
            .count = phase.count,
            .mean_seconds = phase.seconds / static_cast<double>(phase.count),
            .total_seconds = phase.seconds};
  }
  return best;
}

}  // namespace

std::optional<RegularStall> find_regular_stall(std::span<const LongStep> steps) {
  std::optional<RegularStall> best;
  std::vector<int64_t> periods = likely_periods(steps);
  const std::vector<int64_t> of_larger = likely_periods(larger_half(steps));
  periods.insert(periods.end(), of_larger.begin(), of_larger.end());
  for (const int64_t period : periods) {
    const std::optional<RegularStall> found = stall_of(steps, period);
    if (found.has_value() && (!best.has_value() || found->total_seconds > best->total_seconds)) best = found;
  }
  return best;
}

void LongSteps::push(int64_t step, const ledger::StepTime& time) {
  const double typical = typical_seconds_ * static_cast<double>(time.steps);
  const double seconds = static_cast<double>(time.ns) / 1e9;
  if (seconds <= kLongFactor * typical) return;
  // Halved in one go: an append then costs the same however many there are.
  if (steps_.size() >= 2 * kMostLongSteps) steps_.erase(steps_.begin(), steps_.begin() + kMostLongSteps);
  steps_.push_back({step, seconds - typical});
}

std::vector<LongStep> LongSteps::take() {
  std::stable_sort(steps_.begin(), steps_.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  const auto same = [](const auto& a, const auto& b) { return a.step == b.step; };
  steps_.erase(std::unique(steps_.begin(), steps_.end(), same), steps_.end());
  if (steps_.size() > kMostLongSteps) steps_.erase(steps_.begin(), steps_.end() - kMostLongSteps);
  return std::move(steps_);
}

}  // namespace goodput::doctor
