// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_job.h"

#include <fmt/format.h>

#include "cli/journal_source.h"

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

Result<std::unique_ptr<monitor::FollowedJob>> ask_for_job(const Context& context, std::string_view name,
                                                          const ledger::Options& options) {
  ASSIGN_OR_RETURN(const JournalSource source, JournalSource::open(context, name));
  ASSIGN_OR_RETURN(const monitor::RunName run, monitor::find_run(posix_file_system(), source.roots(), name));
  return source.follow(run, options);
}

std::optional<std::string> who_is_alive(const journal::JobLog& log) {
  for (const auto& member : log.members()) {
    const journal::JournalFile::Facts& facts = member->file->facts();
    if (facts.is_dead || !facts.header) continue;
    const std::string what =
        facts.header->role.empty() ? fmt::format("rank {}", facts.header->process_index) : "its " + facts.header->role;
    return fmt::format("{}, process {} on {}", what, facts.header->pid,
                       facts.header->host.empty() ? "an unnamed host" : facts.header->host);
  }
  return std::nullopt;
}

Result<report::Report> report_of_job(const Context& context, std::string_view name) {
  ASSIGN_OR_RETURN(const std::unique_ptr<monitor::FollowedJob> job, ask_for_job(context, name, {}));
  report::Question question;
  question.now_ns = context.now_ns;
  return job->report(std::move(question));
}

}  // namespace goodput::cli
