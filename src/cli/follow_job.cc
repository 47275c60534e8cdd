// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_job.h"

#include <fmt/format.h>

#include "cli/journal_source.h"
#include "monitor/stored_job.h"

namespace goodput::cli {

std::vector<journal::Root> roots_of(const Context& context) {
  return journal::search_roots(context.globals.dir, journal::system_environment());
}

namespace {

using Followed = Result<std::unique_ptr<monitor::FollowedJob>>;

Followed follow_in_store(const Context& context, const std::string& store, std::string_view name,
                         const ledger::Options& options, const StoreSearch& search) {
  if (is_journal_store(store)) {
    ASSIGN_OR_RETURN(const JournalSource source, JournalSource::open(context, store, name));
    ASSIGN_OR_RETURN(const monitor::RunName run, monitor::find_run(posix_file_system(), source.roots(), name));
    return source.follow(run, options);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<monitor::FollowedJob> job,
                   monitor::follow_stored(posix_file_system(), roots_of(context),
                                          {.url = store,
                                           .name = std::string(name),
                                           .retention_ns = search.retention_ns,
                                           .is_patient = search.is_patient},
                                          options, system_clock()));
  RETURN_IF_ERROR(job->poll());
  return job;
}

}  // namespace

bool is_named_store(std::string_view store) {
  return !store.empty() && store != "auto" && store != "none" && store != "off";
}

Result<std::unique_ptr<monitor::FollowedJob>> follow_job(const Context& context, std::string_view name,
                                                         const ledger::Options& options, const StoreSearch& search) {
  const Globals& globals = context.globals;
  if (is_named_store(globals.store)) return follow_in_store(context, globals.store, name, options, search);
  const Result<monitor::RunName> run = monitor::find_run(posix_file_system(), roots_of(context), name);
  if (run.ok()) return follow_run(context, *run, options);
  if (run.status().code() != StatusCode::kNotFound || !search.in_usual_store || !is_named_store(globals.usual_store)) {
    return run.status();
  }
  Followed stored = follow_in_store(context, globals.usual_store, name, options, search);
  if (stored.status().code() != StatusCode::kNotFound) return stored;
  return Status(StatusCode::kNotFound, fmt::format("{}; {}", run.status().message(), stored.status().message()));
}

Result<std::unique_ptr<monitor::FollowedJob>> follow_under(const std::vector<journal::Root>& roots,
                                                           const monitor::RunName& run,
                                                           const ledger::Options& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<monitor::FollowedJob> job,
                   monitor::FollowedJob::open(posix_file_system(), roots, run, options, system_clock()));
  RETURN_IF_ERROR(job->poll());
  return job;
}

Result<std::unique_ptr<monitor::FollowedJob>> follow_run(const Context& context, const monitor::RunName& run,
                                                         const ledger::Options& options) {
  return follow_under(roots_of(context), run, options);
}

std::optional<std::string> who_is_alive(const journal::JobLog& log) {
  const journal::JobLog::Member* const alive = log.first_alive();
  if (alive == nullptr) return std::nullopt;
  const journal::LiveHeader& header = *alive->file->facts().header;
  const std::string what = header.role.empty() ? fmt::format("rank {}", header.process_index) : "its " + header.role;
  return fmt::format("{}, process {} on {}", what, header.pid, header.host.empty() ? "an unnamed host" : header.host);
}

Result<report::Report> report_of_job(const Context& context, std::string_view name) {
  ASSIGN_OR_RETURN(const std::unique_ptr<monitor::FollowedJob> job, follow_job(context, name, {}));
  report::Question question;
  question.now_ns = context.now_ns;
  return job->report(std::move(question));
}

}  // namespace goodput::cli
