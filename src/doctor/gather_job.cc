// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "doctor/gather.h"
#include "monitor/followed_job.h"

namespace goodput::doctor {
namespace {

void add_writers(const journal::JobLog& log, JobFacts& job) {
  for (const auto& member : log.members()) {
    const auto& header = member->file->facts().header;
    if (!header.has_value()) continue;
    if (journal::is_rank_zero(*header)) {
      job.has_lead = true;
    } else if (header->role.empty()) {
      job.has_others = true;
    } else {
      job.has_launcher = job.has_launcher || header->role == "launcher";
    }
  }
  job.has_others = job.has_others || !log.indexes().empty();
}

uint64_t bytes_in(Directory& folder) {
  uint64_t bytes = 0;
  const Result<std::vector<std::string>> names = folder.list();
  if (!names.ok()) return 0;
  for (const std::string& name : *names) {
    const Result<FileFacts> facts = folder.facts(name);
    if (!facts.ok()) continue;
    if (facts->type == FileType::kFile) bytes += facts->size_bytes;
    if (facts->type != FileType::kDirectory) continue;
    if (const auto inner = folder.open_directory(name); inner.ok()) bytes += bytes_in(**inner);
  }
  return bytes;
}

void add_survey(monitor::FollowedJob& followed, JobFacts& job) {
  EventSurveyor surveyor;
  const Status read = followed.log().read(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                                          [&](std::span<const event::Event> events) {
                                            surveyor.push(events);
                                            return true;
                                          });
  if (read.ok()) job.survey = surveyor.survey();
}

void add_regular_stall(monitor::FollowedJob& followed, int64_t now_ns, JobFacts& job) {
  if (!job.report.steps_per_second.has_value() || *job.report.steps_per_second <= 0) return;
  LongSteps long_steps(1 / *job.report.steps_per_second);
  const Status read =
      followed.ledger().step_times(now_ns, std::numeric_limits<int64_t>::min(),
                                   [&](int64_t step, const ledger::StepTime& time) { long_steps.push(step, time); });
  if (read.ok()) job.regular_stall = find_regular_stall(long_steps.take());
}

}  // namespace

JobFacts look_at_job(FileSystem& files, const std::vector<journal::Root>& roots, const std::string& name,
                     int64_t now_ns, const Clock& clock) {
  JobFacts job{.name = name};
  const Result<monitor::RunName> run = monitor::find_run(files, roots, name);
  if (!run.ok()) {
    job.absence = run.status().message();
    return job;
  }
  Result<std::unique_ptr<monitor::FollowedJob>> followed = monitor::FollowedJob::open(files, roots, *run, {}, clock);
  const Status polled = followed.ok() ? (*followed)->poll() : followed.status();
  if (!polled.ok()) {
    job.absence = polled.message();
    return job;
  }
  add_writers((*followed)->log(), job);
  for (Directory* folder : (*followed)->log().run_folders()) job.journal_bytes += bytes_in(*folder);
  report::Question question;
  question.now_ns = now_ns;
  Result<report::Report> report = (*followed)->report(question);
  if (!report.ok()) {
    job.absence = report.status().message();
    return job;
  }
  job.report = std::move(report).value();
  job.monitors = monitor::see_monitors((*followed)->log(), now_ns);
  add_survey(**followed, job);
  add_regular_stall(**followed, now_ns, job);
  return job;
}

}  // namespace goodput::doctor
