// Rates of failure and repair: how often a job is interrupted, how sure one can be of it, and how long it takes to be
// back.
//
// Use these when a report is made from a ledger's totals; they are pure and know no report.
//
//   std::optional<double> mtbf = mean(up_seconds, unplanned);            // 3 failures in 36,000 s: 12,000
//   auto interval = mtbf_interval(up_seconds, unplanned);                // 90 %: 4,644 to 44,030
//   std::optional<double> goodput = percent(productive_seconds, elapsed_seconds);
//
// An absent answer is an empty optional, never 0. No function throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace goodput::report {

/// The confidence of `mtbf_interval_seconds` in a report.
constexpr double kMtbfConfidence = 0.90;

/// `part` as percent of `whole`; empty when there is nothing to divide by.
std::optional<double> percent(double part, double whole);

/// `total / count`; empty when `count` is not positive. MTBF is the mean of up-time over unplanned disruptions, MTTR
/// that of recovery seconds over the disruptions that were recovered from.
std::optional<double> mean(double total, int64_t count);

/// The exact two-sided interval of the mean time between failures, when `failures` of a Poisson process were seen in
/// `exposure_seconds`: [2T / chi2(1 - a/2, 2k + 2), 2T / chi2(a/2, 2k)] with a = 1 - confidence. (Time-truncated
/// observation: Epstein and Sobel 1953; Nelson, Applied Life Data Analysis, 1982, chapter 6.) Empty without a failure,
/// where no upper bound exists, without exposure, and for a confidence outside (0, 1).
std::optional<std::pair<double, double>> mtbf_interval(double exposure_seconds, int64_t failures,
                                                       double confidence = kMtbfConfidence);

}  // namespace goodput::report
