// SPDX-License-Identifier: Apache-2.0
#include "ledger/typical.h"

#include <algorithm>

namespace goodput::ledger {

namespace {

bool shorter(const StepTime& a, const StepTime& b) {
  if (a.steps == b.steps) return a.ns < b.ns;
  return static_cast<int128>(a.ns) * b.steps < static_cast<int128>(b.ns) * a.steps;
}

Quotient quotient_of(const StepTime& time) { return {static_cast<uint128>(time.ns), static_cast<uint128>(time.steps)}; }

Quotient mean_of(const StepTime& a, const StepTime& b) {
  const Quotient x = quotient_of(a);
  const Quotient y = quotient_of(b);
  if (x.den == y.den) return {x.num + y.num, 2 * x.den};
  return {x.num * y.den + y.num * x.den, 2 * x.den * y.den};
}

}  // namespace

Quotient median(std::span<const StepTime> times) {
  std::vector<StepTime> values(times.begin(), times.end());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end(), shorter);
  if (values.size() % 2 == 1) return quotient_of(*middle);
  return mean_of(*std::max_element(values.begin(), middle, shorter), *middle);
}

bool is_stalled(int64_t unowned_ns, int64_t steps, const Quotient& typical, const Options& options) {
  if (!may_be_stalled(unowned_ns, steps, options)) return false;
  constexpr uint64_t kMillion = 1'000'000;
  const auto n = static_cast<uint64_t>(steps);
  const Wide time = Wide(typical.den).times(static_cast<uint64_t>(unowned_ns));
  const Wide by_factor = Wide(typical.num).times(options.stall_factor.millionths).times(n);
  const Wide by_floor =
      (Wide(typical.num) + Wide(typical.den).times(static_cast<uint64_t>(options.stall_floor_ns))).times(n);
  return by_factor < time.times(kMillion) && by_floor < time;
}

TypicalWindow::TypicalWindow(std::span<const StepTime> oldest_first) {
  for (const StepTime& time : oldest_first) push(time);
}

std::optional<Quotient> TypicalWindow::typical() const {
  if (size_ < kLeastTypicalIntervals) return std::nullopt;
  if (!median_.has_value()) median_ = median(std::span(ring_).first(size_));
  return median_;
}

std::vector<StepTime> TypicalWindow::oldest_first() const {
  std::vector<StepTime> out;
  out.reserve(size_);
  const size_t oldest = size_ < kTypicalIntervals ? 0 : next_;
  for (size_t i = 0; i < size_; ++i) out.push_back(ring_[(oldest + i) % kTypicalIntervals]);
  return out;
}

}  // namespace goodput::ledger
