// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace goodput::monitor {
namespace {

using report::JobStatus;

// A launcher records how a process ended within milliseconds, and knows more about it.
constexpr auto kLaunchersTurn = std::chrono::milliseconds(500);

/// For good, or until it is started again.
bool has_ended(JobStatus status) {
  return status == JobStatus::kCompleted || status == JobStatus::kFailed || status == JobStatus::kDown;
}

}  // namespace

Monitor::Monitor(FollowedJob& job, std::vector<std::unique_ptr<exporters::Pipe>> pipes, MonitorOptions options,
                 const Clock& clock)
    : job_(&job), pipes_(std::move(pipes)), options_(std::move(options)), clock_(&clock) {}

Status Monitor::cycle(const exporters::Figures& figures) {
  const Status looked = look_and_offer(figures);
  has_failed_ = !looked.ok();
  options_.about.failure = looked.ok() ? "" : looked.message();
  options_.about.updated_ns = clock_->wall_ns();
  tell_status();
  return looked;
}

void Monitor::tell_status() {
  options_.about.sinks.clear();
  for (const auto& pipe : pipes_) options_.about.sinks.push_back({pipe->name(), pipe->counters()});
  (void)write_status(job_->log(), options_.about);
}

Status Monitor::look_and_offer(const exporters::Figures& figures) {
  Result<exporters::Update> first = look(figures);
  if (!first.ok()) {
    // A trainer may die before it has recorded anything.
    note_end(first.status().code() == StatusCode::kNotFound && job_->log().first_alive() == nullptr);
    return first.status();
  }
  exporters::Update update = std::move(first).value();
  if (tell_death(update.report)) {
    ASSIGN_OR_RETURN(update, look(figures));
  }
  note_end(has_ended(update.report.status));
  if (told_status_ != update.report.status) {
    update.status_changes.push_back(
        {.time_ns = update.report.as_of_ns, .status = update.report.status, .number = ++status_changes_});
  }
  if (options_.on_look) options_.on_look(update);
  for (const auto& pipe : pipes_) pipe->offer(update);
  told_status_ = update.report.status;
  if (figures.steps) steps_until_ns_ = update.report.as_of_ns;
  return {};
}

Result<exporters::Update> Monitor::look(const exporters::Figures& figures) {
  RETURN_IF_ERROR(job_->poll());
  exporters::Update update;
  update.figures = figures;
  report::Question question{.now_ns = clock_->wall_ns(), .windows_ns = options_.windows_ns};
  if (options_.price) question.price = options_.price(job_->log().job_facts().accelerator_type);
  ASSIGN_OR_RETURN(update.report, job_->report(std::move(question)));
  const auto take = [&](int64_t step, const ledger::StepTime& time) {
    update.steps.push_back({step, static_cast<double>(time.ns) / 1e9 / static_cast<double>(time.steps)});
  };
  if (figures.steps) {
    RETURN_IF_ERROR(job_->ledger().step_times(update.report.as_of_ns, steps_until_ns_, take));
  }
  choose_trainer();
  return update;
}

void Monitor::note_end(bool has_ended) {
  if (!has_ended) {
    ended_boot_ns_.reset();
  } else if (!ended_boot_ns_.has_value()) {
    ended_boot_ns_ = clock_->boot_ns();
  }
}

void Monitor::choose_trainer() {
  const uint64_t watched = watch_.count();
  watch_.choose(job_->log());
  if (watch_.count() != watched) told_death_ = false;
}

uint64_t Monitor::look_for_trainer() {
  if (job_->poll().ok()) choose_trainer();
  return trainers_seen();
}

/// Whether a death was recorded that nobody else had recorded.
bool Monitor::tell_death(const report::Report& report) {
  if (told_death_ || !watch_.has_died()) return false;
  told_death_ = true;
  if (has_ended(report.status) || !options_.on_death) return false;
  const int64_t time_ns = clock_->wall_ns();
  std::this_thread::sleep_for(kLaunchersTurn);
  const Result<exporters::Update> again = look({.steps = false});
  const bool by_launcher = again.ok() && has_ended(again->report.status);
  if (by_launcher || watch_.attempt_id().empty()) return false;
  options_.on_death(watch_.attempt_id(), time_ns);
  return true;
}

bool Monitor::is_over() const {
  return !options_.follows && ended_boot_ns_.has_value() && clock_->boot_ns() - *ended_boot_ns_ >= options_.linger_ns;
}

bool Monitor::has_unsent() const {
  return std::any_of(pipes_.begin(), pipes_.end(), [](const auto& pipe) { return pipe->counters().is_waiting; });
}

bool Monitor::finish(int64_t timeout_ns) {
  // All at once, each with the whole of the time.
  std::vector<std::thread> ends;
  std::vector<char> done(pipes_.size());
  for (size_t i = 0; i < pipes_.size(); ++i) {
    ends.emplace_back([&, i] { done[i] = pipes_[i]->finish(timeout_ns) ? 1 : 0; });
  }
  for (std::thread& end : ends) end.join();
  options_.about.ended_ns = clock_->wall_ns();
  tell_status();
  return std::all_of(done.begin(), done.end(), [](char is_done) { return is_done != 0; });
}

}  // namespace goodput::monitor
