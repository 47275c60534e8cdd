// Inside the reference: step intervals and what rules 2, 9 and 10 say of each.
//
//   Steps steps = judge_steps(job, options);
//   for (const StepInterval& interval : steps.by_segment[0]) productive += interval.preserved_share * …;
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/job.h"

namespace goodput::reference {

/// From one step record of a segment to the next.
struct StepInterval {
  int64_t first_step = 0, next_step = 0;
  int64_t start_ns = 0, end_ns = 0;
  Rational unowned_ns = 0;
  Rational per_step_ns = 0;  ///< unowned time divided by the steps it covers
  bool warm_up = false;
  bool stalled = false;
  std::optional<Rational> typical_ns = {};  ///< as it was when the interval was judged
  Rational preserved_share = 1;

  [[nodiscard]] int64_t steps() const { return next_step - first_step; }
};

struct Steps {
  std::vector<std::vector<StepInterval>> by_segment;
  std::vector<std::optional<int64_t>> resume_step;       ///< by segment: the lowest step at which any later one begins
  std::vector<std::optional<Rational>> tail_typical_ns;  ///< by segment: what its last step is judged by
  std::vector<Owners> owners;                            ///< by attempt
  std::optional<Rational> typical_ns;                    ///< at the end of the log

  /// Rule 9's mean of ordinary step times for a segment.
  [[nodiscard]] std::optional<Rational> mean_ns(size_t segment) const;
};

Steps judge_steps(const Job& job, const Options& options);

/// Rule 10's bound for `steps` steps.
bool is_stalled(const Rational& unowned_ns, int64_t steps, const std::optional<Rational>& typical_ns,
                const Options& options);
Rational median(std::vector<Rational> values);
/// Percentile with linear interpolation of a list that is not empty.
Rational percentile(std::vector<Rational> values, int percent);

}  // namespace goodput::reference
