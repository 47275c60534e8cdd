// `goodput jobs`: all jobs that are recorded here, one a line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/journal_source.h"
#include "cli/price_options.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "journal/run_folder.h"

namespace goodput::cli {
namespace {

struct JobsOptions {
  std::vector<std::string> labels;
};

Result<report::JobSummary> summary_of(const Context& context, const JournalSource& source,
                                      const monitor::RunName& run) {
  ASSIGN_OR_RETURN(const std::unique_ptr<monitor::FollowedJob> job, source.follow(run, {}));
  report::Question question;
  question.now_ns = context.now_ns;
  question.price = price_for({}, context.config, job->log().job_facts().accelerator_type);
  ASSIGN_OR_RETURN(const report::Report report, job->report(std::move(question)));
  return report::summarize(report);
}

bool has_label(const report::JobSummary& job, const std::string& wanted) {
  return std::any_of(job.labels.begin(), job.labels.end(),
                     [&](const auto& label) { return label.first + "=" + label.second == wanted; });
}

int run_jobs(Context& context, const JobsOptions& options) {
  for (const std::string& label : options.labels) {
    if (label.find('=') != std::string::npos) continue;
    return context.fail("jobs", Status(StatusCode::kInvalidArgument, "--label takes KEY=VALUE, not `" + label + "`"));
  }
  const Result<JournalSource> source = JournalSource::open(context, "");
  // A bucket in which nothing is recorded has no jobs, as a folder has.
  if (!source.ok() && source.status().code() != StatusCode::kNotFound) return context.fail("jobs", source.status());
  const std::vector<journal::Root> roots = source.ok() ? source->roots() : std::vector<journal::Root>();
  const std::vector<journal::RunEntry> runs = journal::list_runs(posix_file_system(), roots, std::nullopt);
  std::vector<report::JobSummary> jobs;
  bool all_read = true;
  {
    ProgressBar bar(context, "reading jobs");
    for (size_t i = 0; i < runs.size(); ++i) {
      bar.update(static_cast<int64_t>(i), static_cast<int64_t>(runs.size()));
      Result<report::JobSummary> job = summary_of(context, *source, {runs[i].job, runs[i].run_id});
      // Opened, and nothing recorded in it yet: no job, and no fault either.
      if (job.status().code() == StatusCode::kNotFound) continue;
      if (!job.ok()) {
        context.fail("jobs", job.status());
        all_read = false;
        continue;
      }
      const bool wanted = std::all_of(options.labels.begin(), options.labels.end(),
                                      [&](const std::string& label) { return has_label(*job, label); });
      if (wanted) jobs.push_back(std::move(*job));
    }
  }
  const int shown = show_jobs(context, jobs);
  return all_read ? shown : kCannot;
}

}  // namespace

Command jobs_command() {
  return {.name = "jobs",
          .group = kAsk,
          .summary = "all jobs that are recorded here, one a line",
          .examples =
              "goodput jobs\n"
              "goodput jobs --label team=nlp --json",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<JobsOptions>();
            app.add_option("--label", options->labels, "only jobs with this label; several: with all of them")
                ->type_name("KEY=VALUE")
                ->allow_extra_args(false);
            return [options](Context& context) { return run_jobs(context, *options); };
          }};
}

}  // namespace goodput::cli
