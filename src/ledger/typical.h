// The typical step time: the median of the latest 101 completed step times, kept as exact quotients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ledger/fold_state.h"
#include "ledger/limits.h"
#include "ledger/options.h"
#include "ledger/quotient.h"

namespace goodput::ledger {

/// Median of step times; of an even number the mean of the middle two. `times` must not be empty.
[[nodiscard]] Quotient median(std::span<const StepTime> times);

/// Rule 10: whether `unowned_ns` for `steps` steps exceeds max(factor · typical, typical + floor) per step.
[[nodiscard]] bool is_stalled(int64_t unowned_ns, int64_t steps, const Quotient& typical, const Options& options);

/// Rule 10, cheaply: false only where is_stalled() is false whatever the typical step time.
[[nodiscard]] inline bool may_be_stalled(int64_t unowned_ns, int64_t steps, const Options& options) {
  return options.stall_floor_ns > 0 && options.stall_factor.millionths > 0 &&
         static_cast<int128>(unowned_ns) > static_cast<int128>(options.stall_floor_ns) * steps;
}

/// A ring of the latest step times. The median is taken when asked: hardly ever, since no step is called stalled
/// without being longer than a floor of a minute.
class TypicalWindow {
 public:
  explicit TypicalWindow(std::span<const StepTime> oldest_first);

  void push(const StepTime& time) {
    ring_[next_] = time;
    next_ = next_ + 1 == kTypicalIntervals ? 0 : next_ + 1;
    if (size_ < kTypicalIntervals) ++size_;
    median_.reset();
  }

  /// Empty below 5 values.
  [[nodiscard]] std::optional<Quotient> typical() const;
  [[nodiscard]] std::vector<StepTime> oldest_first() const;

 private:
  std::array<StepTime, kTypicalIntervals> ring_{};
  size_t next_ = 0;
  size_t size_ = 0;
  mutable std::optional<Quotient> median_;
};

}  // namespace goodput::ledger
