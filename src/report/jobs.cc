// SPDX-License-Identifier: Apache-2.0
#include "report/jobs.h"

namespace goodput::report {

JobSummary summarize(const Report& report) {
  JobSummary summary{.job = report.job,
                     .run_id = report.run_id,
                     .labels = report.labels,
                     .status = report.status,
                     .provisional = report.provisional,
                     .start_ns = report.start_ns,
                     .end_ns = report.end_ns,
                     .elapsed_seconds = report.elapsed_seconds,
                     .goodput_seconds = report.goodput_seconds,
                     .goodput_percent = report.goodput_percent,
                     .attempts = static_cast<int64_t>(report.attempts.size()) + report.attempts_omitted,
                     .disruptions = report.disruptions,
                     .last_step = report.last_step,
                     .cost = std::nullopt,
                     .currency = report.currency,
                     .accelerators = report.accelerators,
                     .accelerator_type = report.accelerator_type};
  if (!report.currency.empty()) {
    summary.cost = 0;
    for (const auto& [name, amount] : report.cost) *summary.cost += amount;
  }
  return summary;
}

}  // namespace goodput::report
