// `goodput disruptions`: what interrupted a job, and what each cost.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/follow_job.h"
#include "cli/job_options.h"
#include "cli/show.h"

namespace goodput::cli {
namespace {

int run_disruptions(Context& context, const JobOptions& options) {
  const Result<report::Report> report = report_of_job(context, options.job);
  return report.ok() ? show_disruptions(context, *report) : context.fail("disruptions", report.status());
}

}  // namespace

Command disruptions_command() {
  return {.name = "disruptions",
          .group = kAsk,
          .summary = "what interrupted a job, and what each cost",
          .examples =
              "goodput disruptions llama-7b\n"
              "goodput disruptions llama-7b@second --json",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<JobOptions>();
            add_job_options(app, *options);
            return [options](Context& context) { return run_disruptions(context, *options); };
          }};
}

}  // namespace goodput::cli
