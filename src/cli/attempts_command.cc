// `goodput attempts`: the launches of a job, and how each ended.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/follow_job.h"
#include "cli/job_options.h"
#include "cli/show.h"

namespace goodput::cli {
namespace {

int run_attempts(Context& context, const JobOptions& options) {
  const Result<report::Report> report = report_of_job(context, options.job);
  return report.ok() ? show_attempts(context, *report) : context.fail("attempts", report.status());
}

}  // namespace

Command attempts_command() {
  return {.name = "attempts",
          .group = kAsk,
          .summary = "the launches of a job, and how each ended",
          .examples =
              "goodput attempts llama-7b\n"
              "goodput attempts llama-7b@second --json",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<JobOptions>();
            add_job_options(app, *options);
            return [options](Context& context) { return run_attempts(context, *options); };
          }};
}

}  // namespace goodput::cli
