// SPDX-License-Identifier: Apache-2.0
#include "cli/job_options.h"

#include <CLI/CLI.hpp>

#include "base/time_text.h"

namespace goodput::cli {
namespace {

void add_job(CLI::App& app, std::string& job) {
  app.add_option("job", job, "the job: NAME, its latest run, or NAME@RUN")->type_name("JOB")->required();
}

}  // namespace

JobRef parse_job(std::string_view text) {
  const size_t at = text.rfind('@');
  const bool has_run = at != std::string_view::npos && at > 0 && at + 1 < text.size();
  if (!has_run) return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

void add_job_options(CLI::App& app, JobOptions& options) { add_job(app, options.job); }

void add_end_options(CLI::App& app, EndOptions& options) {
  add_job(app, options.job);
  app.add_flag("--failed", options.failed, "it ended without reaching its goal");
}

void add_split_options(CLI::App& app, SplitOptions& options) {
  add_job(app, options.job);
  app.add_option("--at", options.at, "where the second run begins")->type_name("TIME");
}

Result<int64_t> split_time(const SplitOptions& options, int64_t now_ns) {
  if (options.at.empty()) return Status(StatusCode::kInvalidArgument, "--at TIME says where the second run begins");
  return parse_time(options.at, now_ns);
}

}  // namespace goodput::cli
