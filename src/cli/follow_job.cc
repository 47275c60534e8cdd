// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_job.h"

namespace goodput::cli {

std::vector<journal::Root> roots_of(const Context& context) {
  return journal::search_roots(context.globals.dir, journal::system_environment());
}

Result<std::unique_ptr<monitor::FollowedJob>> follow_job(const Context& context, std::string_view name,
                                                         const ledger::Options& options) {
  FileSystem& files = posix_file_system();
  const std::vector<journal::Root> roots = roots_of(context);
  ASSIGN_OR_RETURN(const monitor::RunName run, monitor::find_run(files, roots, name));
  ASSIGN_OR_RETURN(std::unique_ptr<monitor::FollowedJob> job,
                   monitor::FollowedJob::open(files, roots, run, options, system_clock()));
  RETURN_IF_ERROR(job->poll());
  return job;
}

}  // namespace goodput::cli
