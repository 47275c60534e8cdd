// One line per job, for lists of jobs: what `goodput jobs` prints and the web page's first table shows.
//
//   std::vector<JobSummary> jobs;
//   for (const Report& report : reports) jobs.push_back(summarize(report));
//   std::string text = jobs_to_json(jobs);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "report/report.h"

namespace goodput::report {

struct JobSummary {
  std::string job{};
  std::string run_id{};
  std::map<std::string, std::string> labels{};
  JobStatus status = JobStatus::kRunning;
  bool provisional = true;
  int64_t start_ns = 0, end_ns = 0;
  double elapsed_seconds = 0, goodput_seconds = 0;
  std::optional<double> goodput_percent{};
  int64_t attempts = 0, disruptions = 0;
  std::optional<int64_t> last_step{};
  std::optional<double> cost{};  ///< of the whole job, in `currency`
  std::string currency{};
  std::optional<int64_t> accelerators{};
  std::string accelerator_type{};
};

/// The line of one job. Pure.
JobSummary summarize(const Report& report);

}  // namespace goodput::report
