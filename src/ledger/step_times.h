// How long steps take: ideal step time, deviation, percentiles (docs/semantics.md, Figures).
//
// Up to 10,000 step times the figures are exact. Beyond, the ideal step time is that of a list in which each step time has
// moved by less than 0.01 %: counts in log-linear bins, 8,192 to the octave, that values can be taken out of again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace goodput::ledger {

struct StepFigures {
  int64_t count = 0;
  double ideal_ns = 0;      ///< `performance`
  double deviation_ns = 0;  ///< `step_time_deviation`
  double p50_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
};

/// Counts of step times by size. Memory follows the spread of the values: 2 KiB for each 6 % of it, at most 2 MiB.
class StepTimeBins {
 public:
  void add(int64_t ns, int64_t count = 1) { change(ns, count); }
  void remove(int64_t ns) { change(ns, -1); }
  void add(std::span<const int64_t> times_ns) {
    for (const int64_t ns : times_ns) add(ns);
  }
  void remove(std::span<const int64_t> times_ns) {
    for (const int64_t ns : times_ns) remove(ns);
  }
  [[nodiscard]] int64_t count() const { return count_; }

  struct Bin {
    int64_t ns;  ///< what its values are taken for: the middle
    int64_t count;
  };
  [[nodiscard]] std::vector<Bin> bins() const;

  /// The widest span of values that one bin stands for: 1 / 8,192.
  static constexpr int kOctaveBits = 13;

 private:
  static constexpr size_t kPageBins = 512;
  using Page = std::array<int32_t, kPageBins>;

  void change(int64_t ns, int64_t by);

  std::vector<std::unique_ptr<Page>> pages_;
  int64_t count_ = 0;
};

/// `sorted` holds all step times; `latest` the latest 1,100 in step order (all, below that). Empty without any.
[[nodiscard]] std::optional<StepFigures> exact_figures(std::span<const int64_t> sorted, std::span<const int64_t> latest);

/// The same from bins.
[[nodiscard]] std::optional<StepFigures> binned_figures(const StepTimeBins& bins, std::span<const int64_t> latest);

}  // namespace goodput::ledger
