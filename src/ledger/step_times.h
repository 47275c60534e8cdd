// How long steps take: ideal step time, deviation, percentiles (docs/semantics.md, Figures).
//
// Up to 10,000 step times the figures are exact. Beyond, the ideal step time is that of a list in which each step time
// has moved by less than 0.01 %: counts in log-linear bins, 8,192 to the octave, that values can be taken out of again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ledger/fold_state.h"

namespace goodput::ledger {

struct StepFigures {
  int64_t count = 0;
  double ideal_ns = 0;      ///< `performance`
  double deviation_ns = 0;  ///< `step_time_deviation`
  double p50_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
};

/// Counts of step times by size. Memory follows the spread of the values: 2 KiB for each 6 % of it, at most 2 MiB
/// between a nanosecond and a century.
class StepTimeBins {
 public:
  void add(double ns, int64_t count) { change(ns, count); }
  void add(std::span<const StepTime> times) {
    for (const StepTime& time : times) change(value_of(time), 1);
  }
  void remove(std::span<const StepTime> times) {
    for (const StepTime& time : times) change(value_of(time), -1);
  }
  [[nodiscard]] int64_t count() const { return count_; }

  struct Bin {
    double ns;  ///< what its values are taken for: the middle
    int64_t count;
  };
  [[nodiscard]] std::vector<Bin> bins() const;

 private:
  static constexpr int kPageBits = 9;
  using Page = std::array<int32_t, size_t{1} << kPageBits>;

  static double value_of(const StepTime& time) {
    return static_cast<double>(time.ns) / static_cast<double>(time.steps);
  }
  void change(double ns, int64_t by);

  std::map<uint32_t, Page> pages_;
  uint32_t last_page_ = 0;  ///< values come in runs of like size
  Page* last_ = nullptr;
  int64_t count_ = 0;
};

/// From all step times, in step order; exact unless the numbers of steps that they cover have a least common multiple
/// beyond 2^60. Empty without any.
[[nodiscard]] std::optional<StepFigures> exact_figures(std::span<const StepTime> times);

/// From bins; `latest` holds the latest 1,100 step times in step order.
[[nodiscard]] std::optional<StepFigures> binned_figures(const StepTimeBins& bins, std::span<const StepTime> latest);

}  // namespace goodput::ledger
