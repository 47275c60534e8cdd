// `goodput ranks`: the processes of a job: who is late, who stopped first.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/follow_job.h"
#include "cli/job_options.h"
#include "cli/show.h"

namespace goodput::cli {
namespace {

int run_ranks(Context& context, const JobOptions& options) {
  const Result<report::Report> report = report_of_job(context, options.job);
  return report.ok() ? show_ranks(context, *report) : context.fail("ranks", report.status());
}

}  // namespace

Command ranks_command() {
  return {.name = "ranks",
          .group = kAsk,
          .summary = "the processes of a job: who is late, who stopped first",
          .examples =
              "goodput ranks llama-7b\n"
              "goodput ranks llama-7b@second --json",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<JobOptions>();
            add_job_options(app, *options);
            return [options](Context& context) { return run_ranks(context, *options); };
          }};
}

}  // namespace goodput::cli
