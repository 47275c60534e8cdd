// SPDX-License-Identifier: Apache-2.0
#include "account.h"

#include <algorithm>
#include <limits>

#include "journal/roots.h"

namespace goodput::binding {

Result<std::unique_ptr<Account>> Account::of_job(const std::string& job, const std::string& directory,
                                                 const ledger::Options& options) {
  const auto roots = journal::search_roots(directory, journal::system_environment());
  ASSIGN_OR_RETURN(const monitor::RunName run, monitor::find_run(posix_file_system(), roots, job));
  auto account = std::unique_ptr<Account>(new Account);
  ASSIGN_OR_RETURN(account->followed_,
                   monitor::FollowedJob::open(posix_file_system(), roots, run, options, system_clock()));
  return account;
}

Result<std::unique_ptr<Account>> Account::of_file(const std::string& path, const std::string& job,
                                                  const ledger::Options& options) {
  auto account = std::unique_ptr<Account>(new Account);
  ASSIGN_OR_RETURN(account->imported_, importers::import_log(path, {.job = job}));
  account->ledger_ = std::make_unique<ledger::Ledger>(options, *account->imported_);
  RETURN_IF_ERROR(account->imported_->for_each_in_log_order([&](std::span<const event::Event> events) {
    account->ledger_->push(events);
    return true;
  }));
  return account;
}

Result<report::Report> Account::report(const report::Question& question) {
  if (followed_) return followed_->report(question);
  report::Question named = question;
  named.job = imported_->job();
  return report::build(*ledger_, named);
}

Result<bool> Account::has_job_start() {
  event::Source& source = followed_ ? static_cast<event::Source&>(followed_->log()) : *imported_;
  bool found = false;
  constexpr int64_t kFrom = std::numeric_limits<int64_t>::min(), kTo = std::numeric_limits<int64_t>::max();
  RETURN_IF_ERROR(source.read(kFrom, kTo, [&](std::span<const event::Event> events) {
    found = std::ranges::any_of(events, [](const event::Event& e) { return e.kind == event::Kind::kJobStart; });
    return !found;
  }));
  return found;
}

}  // namespace goodput::binding
