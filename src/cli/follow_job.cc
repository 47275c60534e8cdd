// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_job.h"

namespace goodput::cli {

std::vector<journal::Root> roots_of(const Context& context) {
  return journal::search_roots(context.globals.dir, journal::system_environment());
}

Result<std::unique_ptr<monitor::FollowedJob>> follow_job(const Context& context, std::string_view name,
                                                         const ledger::Options& options) {
  ASSIGN_OR_RETURN(const monitor::RunName run, monitor::find_run(posix_file_system(), roots_of(context), name));
  return follow_run(context, run, options);
}

Result<std::unique_ptr<monitor::FollowedJob>> follow_run(const Context& context, const monitor::RunName& run,
                                                         const ledger::Options& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<monitor::FollowedJob> job,
                   monitor::FollowedJob::open(posix_file_system(), roots_of(context), run, options, system_clock()));
  RETURN_IF_ERROR(job->poll());
  return job;
}

Result<report::Report> report_of_job(const Context& context, std::string_view name) {
  ASSIGN_OR_RETURN(const std::unique_ptr<monitor::FollowedJob> job, follow_job(context, name, {}));
  report::Question question;
  question.now_ns = context.now_ns;
  return job->report(std::move(question));
}

}  // namespace goodput::cli
