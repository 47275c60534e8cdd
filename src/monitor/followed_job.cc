// SPDX-License-Identifier: Apache-2.0
#include "monitor/followed_job.h"

#include <utility>

#include "journal/ranks.h"
#include "journal/run_folder.h"
#include "monitor/disk_budget.h"
#include "monitor/journal_findings.h"
#include "monitor/resume_point.h"
#include "monitor/upkeep.h"

namespace goodput::monitor {
namespace {

// New events and what they were found with. To find them again costs some 3 ms; to keep an account costs as much.
constexpr uint64_t kWorthKeeping = 20'000;

/// Of the latest attempt.
void add_ranks(journal::JobLog& log, report::Question& question) {
  if (log.attempts().empty()) return;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  for (journal::RankSigns& rank : journal::ranks_of(log, log.attempts().size() - 1)) {
    report::Rank& told = question.ranks.emplace_back();
    told.process_index = rank.process_index;
    told.host = std::move(rank.host);
    told.last_heartbeat_ns = rank.last_sign_ns;
    if (rank.late_p90_ns) told.lateness_p90_seconds = seconds(*rank.late_p90_ns);
    if (rank.late_p99_ns) told.lateness_p99_seconds = seconds(*rank.late_p99_ns);
  }
}

/// In the latest attempt that did not end well; in the one that hangs, where one does.
std::optional<int64_t> who_stopped_first(journal::JobLog& log, const report::Report& report) {
  using report::AttemptStatus;
  for (size_t i = report.attempts.size(); i-- > 0;) {
    const report::Attempt& attempt = report.attempts[i];
    const bool is_last = i + 1 == report.attempts.size();
    const bool hangs = is_last && report.status == report::JobStatus::kStalled;
    const bool ended_badly = attempt.status == AttemptStatus::kDied || attempt.status == AttemptStatus::kFailed;
    if (!hangs && !ended_badly) continue;
    for (size_t k = log.attempts().size(); k-- > 0;) {
      if (log.attempts()[k].id == attempt.id) return journal::first_stopped(journal::signs_of(log, k));
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<RunName> find_run(FileSystem& files, const std::vector<journal::Root>& roots, std::string_view text) {
  if (std::optional<RunName> run = journal::find_latest_run(files, roots, text)) return *run;
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos && at > 0) {
    const std::string_view job = text.substr(0, at), run_id = text.substr(at + 1);
    if (std::optional<RunName> run = journal::find_named_run(files, roots, job, run_id)) return *run;
  }
  std::string searched;
  for (const journal::Root& root : roots) searched += (searched.empty() ? "" : ", ") + root.path;
  return Status(StatusCode::kNotFound, "looking for job \"" + std::string(text) + "\": nothing is recorded of it in " +
                                           searched + "; `goodput jobs` lists what is there");
}

FollowedJob::FollowedJob(std::unique_ptr<journal::JobLog> log, ledger::Ledger ledger, const ledger::Options& options,
                         const Clock& clock)
    : clock_(&clock), is_usual_(options == ledger::Options{}), log_(std::move(log)), ledger_(std::move(ledger)) {}

Result<std::unique_ptr<FollowedJob>> FollowedJob::open(FileSystem& files, const std::vector<journal::Root>& roots,
                                                       const RunName& run, const ledger::Options& options,
                                                       const Clock& clock) {
  ASSIGN_OR_RETURN(auto log, journal::JobLog::open(files, roots, run.job, run.run_id, clock));
  if (const auto point = read_resume_point(*log)) {
    Result<ledger::Ledger> ledger = ledger::Ledger::resume(point->ledger, options, *log);
    if (ledger.ok() && log->resume(point->cursor).ok()) {
      return std::unique_ptr<FollowedJob>(new FollowedJob(std::move(log), std::move(ledger).value(), options, clock));
    }
    // A cursor that was refused may have been taken in part.
    ASSIGN_OR_RETURN(log, journal::JobLog::open(files, roots, run.job, run.run_id, clock));
  }
  ledger::Ledger ledger(options, *log);
  return std::unique_ptr<FollowedJob>(new FollowedJob(std::move(log), std::move(ledger), options, clock));
}

Status FollowedJob::poll() {
  if (feed_.update) RETURN_IF_ERROR(feed_.update());
  return log_->poll([&](std::span<const event::Event> events) {
    ledger_.push(events);
    new_events_ += events.size();
    return true;
  });
}

Result<report::Report> FollowedJob::report(report::Question question) {
  const journal::JobLog::JobFacts facts = log_->job_facts();
  question.job = facts.job;
  question.run_id = facts.run_id;
  question.labels.insert(facts.labels.begin(), facts.labels.end());
  if (!question.accelerators.has_value()) question.accelerators = facts.accelerators;
  if (question.accelerator_type.empty()) question.accelerator_type = facts.accelerator_type;
  for (const journal::Finding& found : log_->findings()) question.findings.push_back(in_words(found));
  if (feed_.findings) {
    for (report::Finding& found : feed_.findings()) question.findings.push_back(std::move(found));
  }
  add_ranks(*log_, question);
  Result<report::Report> built = report::build(ledger_, question);
  if (built.ok()) built->first_stopped_rank = who_stopped_first(*log_, *built);
  keep();
  return built;
}

/// What the next reader need not find out again.
void FollowedJob::keep() {
  if (feed_.is_others_alone) return;
  const auto found_out = [&] { return new_events_ + log_->searched(); };
  const auto is_worth_it = [&] { return found_out() - kept_at_ >= kWorthKeeping; };
  const Upkeep upkeep{.is_usual = is_usual_, .budget_bytes = disk_budget_bytes(journal::system_environment())};
  if (tend(*log_, ledger_, upkeep, is_worth_it, *clock_)) kept_at_ = found_out();
}

}  // namespace goodput::monitor
