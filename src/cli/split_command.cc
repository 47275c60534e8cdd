// `goodput split`: a run name that was used twice becomes two runs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/job_options.h"
#include "journal/split_run.h"

namespace goodput::cli {
namespace {

using monitor::FollowedJob;
using monitor::RunName;
using nlohmann::ordered_json;

// Times that people read are rounded to the microsecond: one that was copied from a report may lie behind its attempt.
constexpr int64_t kRoundingNs = 1'000;

Status refused(const std::string& why) { return Status(StatusCode::kInvalidArgument, "splitting a job: " + why); }

/// The place among `attempts` of the first that is of the second run.
Result<size_t> boundary_of(const report::Report& report, int64_t at_ns) {
  const auto& attempts = report.attempts;
  const auto second = std::find_if(attempts.begin(), attempts.end(), [&](const report::Attempt& attempt) {
    return attempt.start_ns + kRoundingNs > at_ns;
  });
  if (second == attempts.end() || (second == attempts.begin() && report.attempts_omitted == 0)) {
    return refused(fmt::format("{} of its attempts start at or after {}", second == attempts.end() ? "none" : "all",
                               format_time(at_ns)));
  }
  if (second == attempts.begin()) {
    return refused(fmt::format("it has more attempts than a report holds, and that time lies before {}",
                               format_time(second->start_ns)));
  }
  const report::Attempt& before = *std::prev(second);
  if (before.end_ns > at_ns + kRoundingNs) {
    return refused(fmt::format("{} lies inside attempt {}, which ran from {} to {}; the next one starts at {}",
                               format_time(at_ns), before.index, format_time(before.start_ns),
                               format_time(before.end_ns), format_time(second->start_ns)));
  }
  return static_cast<size_t>(second - attempts.begin());
}

/// Told by the first attempt, so that a split that was killed goes on under the same name.
std::string second_run_id(const RunName& run, int64_t start_ns) {
  return (run.run_id.empty() ? "" : run.run_id + ".") + format_time(start_ns);
}

journal::SplitRequest request_of(const RunName& run, FollowedJob& job, const report::Report& report, size_t boundary) {
  const int64_t start_ns = report.attempts[boundary].start_ns;
  journal::SplitRequest request{
      .job = run.job, .run_id = run.run_id, .second_run_id = second_run_id(run, start_ns), .at_ns = start_ns};
  for (size_t i = boundary; i < report.attempts.size(); ++i) request.attempts.insert(report.attempts[i].id);
  // Those in which nothing happened are in no report.
  for (const journal::Attempt& attempt : job.log().attempts()) {
    if (attempt.start_ns >= start_ns) request.attempts.insert(attempt.id);
  }
  return request;
}

struct Told {
  std::string words, json;
};

Told told_of(const RunName& run, const journal::SplitRequest& request, size_t attempts, int64_t all_attempts,
             const journal::SplitOutcome& done) {
  const ordered_json answer = {{"schema", "goodput.split/1"},
                               {"job", run.job},
                               {"run_id", run.run_id},
                               {"second_run_id", request.second_run_id},
                               {"at", format_time(request.at_ns)},
                               {"second_run_attempts", attempts},
                               {"attempts", all_attempts},
                               {"journals_moved", done.moved},
                               {"journals_cut", done.cut}};
  return {
      .words = fmt::format("{0}@{1}: the run from {2} on, {3} of {4} attempts ({5} journals moved, {6} cut in two)\n"
                           "{0}@{7}: the run before\n",
                           run.job, request.second_run_id, format_time(request.at_ns), attempts, all_attempts,
                           done.moved, done.cut, run.run_id),
      .json = answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
}

Result<Told> split(Context& context, const SplitOptions& options) {
  const std::vector<journal::Root> roots = roots_of(context);
  ASSIGN_OR_RETURN(const int64_t at_ns, split_time(options, context.now_ns));
  ASSIGN_OR_RETURN(const RunName run, monitor::find_run(posix_file_system(), roots, options.job));
  RETURN_IF_ERROR(journal::forget_indexes(posix_file_system(), roots, run.job, run.run_id));
  ASSIGN_OR_RETURN(const std::unique_ptr<FollowedJob> job, follow_run(context, run, {}));
  if (const std::optional<std::string> who = who_is_alive(job->log())) {
    return Status(StatusCode::kUnavailable, fmt::format("splitting job \"{}\": it is alive ({})", options.job, *who));
  }
  report::Question question;
  question.now_ns = context.now_ns;
  ASSIGN_OR_RETURN(const report::Report report, job->report(std::move(question)));
  ASSIGN_OR_RETURN(const size_t boundary, boundary_of(report, at_ns));
  const journal::SplitRequest request = request_of(run, *job, report, boundary);
  ASSIGN_OR_RETURN(const journal::SplitOutcome done,
                   journal::split_run(posix_file_system(), roots, job->log(), request));
  return told_of(run, request, report.attempts.size() - boundary,
                 static_cast<int64_t>(report.attempts.size()) + report.attempts_omitted, done);
}

int run_split(Context& context, const SplitOptions& options) {
  const Result<Told> told = split(context, options);
  return told.ok() ? context.print_done(told->words, told->json) : context.fail("split", told.status());
}

}  // namespace

Command split_command() {
  return {.name = "split",
          .group = kKeep,
          .summary = "make two runs of a run name that was used twice",
          .examples = "goodput split llama-7b --at 2026-01-05T10:00:00Z",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<SplitOptions>();
            add_split_options(app, *options);
            return [options](Context& context) { return run_split(context, *options); };
          }};
}

}  // namespace goodput::cli
