// A job's log with its account, wherever the log comes from: the job's journals, or a file of payloads.
//
//   ASSIGN_OR_RETURN(auto account, Account::of_job("llama-7b", ""));
//   RETURN_IF_ERROR(account->poll());
//   Result<report::Report> report = account->report(question);
//
// One thread at a time. Errors are those of what it stands on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "importers/imported_log.h"
#include "ledger/ledger.h"
#include "monitor/followed_job.h"
#include "report/build.h"

namespace goodput::binding {

class Account {
 public:
  /// `job`: NAME (its latest run) or NAME@RUN. `directory`: empty for where recorders write.
  static Result<std::unique_ptr<Account>> of_job(const std::string& job, const std::string& directory,
                                                 const ledger::Options& options);
  /// What a file of payloads holds of a job at this moment.
  static Result<std::unique_ptr<Account>> of_file(const std::string& path, const std::string& job,
                                                  const ledger::Options& options);

  /// Takes what was recorded meanwhile. Of a file nothing.
  Status poll() { return followed_ ? followed_->poll() : Status(); }
  Result<report::Report> report(const report::Question& question);
  [[nodiscard]] ledger::Ledger& ledger() { return followed_ ? followed_->ledger() : *ledger_; }
  /// Whether the log has the start of a job, as opposed to events without one.
  Result<bool> has_job_start();

 private:
  Account() = default;

  std::unique_ptr<monitor::FollowedJob> followed_;
  std::unique_ptr<importers::ImportedLog> imported_;
  std::unique_ptr<ledger::Ledger> ledger_;  // of what was imported
};

}  // namespace goodput::binding
