// A report as the series of Google Cloud's workloads: the eleven types that ml-goodput-measurement writes, with its
// labels and its names of sources, so that the dashboards made for it show ours.
//
//   for (const WorkloadSeries& series : workload_series(report, {.accelerator_type = "TPU-v5p"})) {
//     send(prefix + series.name, series.labels, series.value);
//   }
//
// What is absent in the report has no series. `performance` is the ideal step time and nothing else. Their number is
// bounded by classes, windows and kMaxCustomEvents (exporters/custom_events.h). Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/report.h"

namespace goodput::exporters {

struct WorkloadSeries {
  std::string name;  ///< "goodput_time"
  std::vector<std::pair<std::string, std::string>> labels;
  std::variant<double, int64_t> value;
};

/// Which of a job's series, and what all of them carry.
struct WorkloadSeriesOptions {
  std::string accelerator_type{};  ///< "UNKNOWN" where nobody knows
  std::string cluster{};           ///< empty: no such label
  bool has_totals = true;          ///< of the whole job
  bool has_windows = true;         ///< of rolling windows
  bool has_step_deviation = true;
};

/// Each name with its labels once, in a fixed order. Texts are UTF-8 and cut to what a label holds.
std::vector<WorkloadSeries> workload_series(const report::Report& report, const WorkloadSeriesOptions& options);

}  // namespace goodput::exporters
