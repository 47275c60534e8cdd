// One run of a job as somebody outside of its processes follows it: its journals, their account, and the report.
//
// Use it once, for a report, or keep it and poll() at an interval: a poll costs what is new.
//
//   ASSIGN_OR_RETURN(const RunName run, find_run(files, roots, "llama-7b"));
//   ASSIGN_OR_RETURN(auto job, FollowedJob::open(files, roots, run, {}, system_clock()));
//   RETURN_IF_ERROR(job->poll());
//   Result<report::Report> report = job->report({.now_ns = now_ns, .windows_ns = {hour_ns}});
//
// One thread at a time; the job's processes may write meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "journal/job_log.h"
#include "journal/run_folder.h"
#include "ledger/ledger.h"
#include "report/build.h"

namespace goodput::monitor {

using journal::RunName;

/// What `text` names: a job (its latest run), or, when no job is called so, NAME@RUN; NAME@ is the run without an id.
/// kNotFound: there is no such job under any of `roots`.
Result<RunName> find_run(FileSystem& files, const std::vector<journal::Root>& roots, std::string_view text);

class FollowedJob {
 public:
  /// kNotFound: no root has a journal of the run. `files` and `clock` outlive it.
  static Result<std::unique_ptr<FollowedJob>> open(FileSystem& files, const std::vector<journal::Root>& roots,
                                                   const RunName& run, const ledger::Options& options,
                                                   const Clock& clock);

  /// Where journals come from that are the copy of what lies elsewhere (monitor/stored_job.h, store/gcs).
  struct Feed {
    std::function<Status()> update;                               ///< brings what is new there into the folders
    std::function<std::vector<report::Finding>()> findings = {};  ///< what is known of the copy beside its events
    bool is_others_alone = false;                                 ///< nothing of ours is left in the folders
  };
  /// Before every poll from now on; a failure is the poll's.
  void feed(Feed feed) { feed_ = std::move(feed); }
  [[nodiscard]] bool is_fed() const { return feed_.update != nullptr; }

  /// Takes what was recorded since the last poll.
  Status poll();

  /// `question` says what is asked; what is known of the job beside its events (name, labels, accelerators, ranks,
  /// findings) is filled in here. kNotFound: nothing has been recorded.
  /// Afterwards does what readers do for a job's folder (monitor/upkeep.h), which changes no answer and cannot fail.
  Result<report::Report> report(report::Question question);

  [[nodiscard]] journal::JobLog& log() { return *log_; }
  [[nodiscard]] ledger::Ledger& ledger() { return ledger_; }

 private:
  FollowedJob(std::unique_ptr<journal::JobLog> log, ledger::Ledger ledger, const ledger::Options& options,
              const Clock& clock);

  void keep();

  const Clock* clock_;
  Feed feed_;
  bool is_usual_;  ///< its options are those for which an account is kept
  uint64_t new_events_ = 0;
  uint64_t kept_at_ = 0;  ///< what had been found out when the account was kept last
  std::unique_ptr<journal::JobLog> log_;
  ledger::Ledger ledger_;
};

}  // namespace goodput::monitor
