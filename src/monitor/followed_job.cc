// SPDX-License-Identifier: Apache-2.0
#include "monitor/followed_job.h"

#include <utility>

#include "journal/run_folder.h"
#include "monitor/journal_findings.h"

namespace goodput::monitor {
namespace {

using journal::RunEntry;

/// The latest run of `job`, or the one that is called `run_id`.
std::optional<RunName> run_of(FileSystem& files, const std::vector<journal::Root>& roots, std::string_view job,
                              std::optional<std::string_view> run_id) {
  const std::vector<RunEntry> runs = journal::list_runs(files, roots, job);
  for (auto entry = runs.rbegin(); entry != runs.rend(); ++entry) {
    if (!run_id.has_value() || entry->run_id == *run_id) return RunName{entry->job, entry->run_id};
  }
  return std::nullopt;
}

}  // namespace

Result<RunName> find_run(FileSystem& files, const std::vector<journal::Root>& roots, std::string_view text) {
  if (std::optional<RunName> run = run_of(files, roots, text, std::nullopt)) return *run;
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos && at > 0 && at + 1 < text.size()) {
    if (std::optional<RunName> run = run_of(files, roots, text.substr(0, at), text.substr(at + 1))) return *run;
  }
  std::string searched;
  for (const journal::Root& root : roots) searched += (searched.empty() ? "" : ", ") + root.path;
  return Status(StatusCode::kNotFound, "looking for job \"" + std::string(text) + "\": nothing is recorded of it in " +
                                           searched + "; `goodput jobs` lists what is there");
}

FollowedJob::FollowedJob(std::unique_ptr<journal::JobLog> log, const ledger::Options& options)
    : log_(std::move(log)), ledger_(options, *log_) {}

Result<std::unique_ptr<FollowedJob>> FollowedJob::open(FileSystem& files, const std::vector<journal::Root>& roots,
                                                       const RunName& run, const ledger::Options& options,
                                                       const Clock& clock) {
  ASSIGN_OR_RETURN(auto log, journal::JobLog::open(files, roots, run.job, run.run_id, clock));
  return std::unique_ptr<FollowedJob>(new FollowedJob(std::move(log), options));
}

Status FollowedJob::poll() {
  return log_->poll([&](std::span<const event::Event> events) {
    ledger_.push(events);
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
  return report::build(ledger_, question);
}

}  // namespace goodput::monitor
