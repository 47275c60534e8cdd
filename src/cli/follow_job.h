// What the commands that name a job do first: find it in the folders that the options name, and read it.
//
//   Result<std::unique_ptr<monitor::FollowedJob>> job = follow_job(context, options->job, {});
//   if (!job.ok()) return context.fail("end", job.status());
//
//   Result<report::Report> report = report_of_job(context, options->job);
//   return report.ok() ? show_attempts(context, *report) : context.fail("attempts", report.status());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "ledger/options.h"
#include "monitor/followed_job.h"

namespace goodput::cli {

/// The folders of --dir, GOODPUT_DIR or the configuration, else the defaults.
std::vector<journal::Root> roots_of(const Context& context);

/// Whether the text names a store, as opposed to the folders.
bool is_named_store(std::string_view store);

/// How a job is looked for in a store.
struct StoreSearch {
  bool in_usual_store = true;  ///< of the environment or the configuration, too
  bool is_patient = true;      ///< waits for a service that counts questions
  std::optional<int64_t> retention_ns{};
};
/// A job as it is named on the command line (NAME or NAME@RUN), with everything that is recorded of it until now: in
/// the --store, where one was named; else in the folders; where they do not have it, in the store that is usual.
Result<std::unique_ptr<monitor::FollowedJob>> follow_job(const Context& context, std::string_view name,
                                                         const ledger::Options& options,
                                                         const StoreSearch& search = {});
/// A run that is known to be under these folders.
Result<std::unique_ptr<monitor::FollowedJob>> follow_under(const std::vector<journal::Root>& roots,
                                                           const monitor::RunName& run, const ledger::Options& options);
/// The same in those of this machine.
Result<std::unique_ptr<monitor::FollowedJob>> follow_run(const Context& context, const monitor::RunName& run,
                                                         const ledger::Options& options);

/// The process that may still record, in words; nothing when all are dead.
std::optional<std::string> who_is_alive(const journal::JobLog& log);

/// Its report as of now, by the default options, without a timeline.
Result<report::Report> report_of_job(const Context& context, std::string_view name);

}  // namespace goodput::cli
