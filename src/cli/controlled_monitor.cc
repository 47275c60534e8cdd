// SPDX-License-Identifier: Apache-2.0
#include "cli/controlled_monitor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/monitor_control.h"
#include "cli/monitor_sinks.h"
#include "cli/monitor_start.h"
#include "monitor/monitor.h"

namespace goodput::cli {
namespace {

using exporters::Figures;
using exporters::Pipe;

constexpr int64_t kTryAgainNs = 1'000'000'000;  // for a job that is not there yet, for sinks that another one holds
// Who starts a monitor opens a journal about then. Later it is a job that runs elsewhere, and is asked for now and
// then.
constexpr int64_t kJournalPatienceNs = 10'000'000'000;
constexpr int64_t kAskStoreAgainNs = 10'000'000'000;
constexpr int64_t kDrainNs = 10'000'000;
constexpr Figures kNoFigures{.goodput = false, .badput = false, .windows = false, .steps = false};

struct Running {
  Uploader uploader;
  int64_t due_boot_ns = 0;
};

/// Who waits for the end of the training process' output is not to wait for this one.
void let_go_of_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

class ControlledMonitor {
 public:
  ControlledMonitor(Context& context, const MonitorPlan& plan, const MonitorOptions& options, SignalQueue& signals)
      : context_(context), plan_(plan), options_(options), signals_(signals), link_(plan.control_fd) {}

  int run();

 private:
  void take(const std::string& line);
  void start(Uploader uploader);
  void stop(const StopUploader& wanted);
  Status ready();
  StoreSearch search();
  Status look(const Figures& figures);
  void look_when_due();
  bool drain(int64_t timeout_ns);
  bool finish(int64_t timeout_ns);
  void notice_who_is_left();
  bool is_over();
  [[nodiscard]] Figures all_figures() const;
  void complain(const Status& status);

  Context& context_;
  const MonitorPlan& plan_;
  const MonitorOptions& options_;  ///< as typed, for whoever asks how this monitor is
  SignalQueue& signals_;
  ControlLink link_;
  const pid_t trainer_ = getppid();
  int64_t next_store_boot_ns_ = boot_time_ns() + kJournalPatienceNs;  ///< when to look for the job in a store
  std::vector<Running> running_;
  bool was_started_ = false;
  std::string complained_;  ///< of last
  int64_t next_try_boot_ns_ = 0;
  Status not_ready_;  ///< why, when last tried
  std::unique_ptr<monitor::FollowedJob> job_;
  std::optional<monitor::Monitor> monitor_;
  std::optional<report::Report> latest_;
  std::optional<int64_t> alone_since_boot_ns_;  ///< without a training process
  uint64_t trainers_seen_ = 0;                  ///< when that was noticed
};

int ControlledMonitor::run() {
  if (link_.is_closed()) {
    return context_.fail("monitor", Status(StatusCode::kInvalidArgument, "--control: it is no open descriptor"));
  }
  while (true) {
    for (const std::string& line : link_.read()) take(line);
    notice_who_is_left();
    if (running_.empty() && (was_started_ || alone_since_boot_ns_.has_value())) break;
    look_when_due();
    if (is_over()) break;
    int64_t next_ns = boot_time_ns() + kLookForNewsNs;
    for (const Running& running : running_) next_ns = std::min(next_ns, running.due_boot_ns);
    if (is_end(signals_.next(std::max<int64_t>(next_ns - boot_time_ns(), 0)))) {
      (void)look(all_figures());  // the last word
      break;
    }
  }
  return finish(plan_.flush_timeout_ns) ? kDone : kCannot;
}

void ControlledMonitor::take(const std::string& line) {
  Result<MonitorCommand> command = parse_monitor_command(line);
  if (!command.ok()) {
    complain(command.status());
  } else if (auto* uploader = std::get_if<Uploader>(&*command)) {
    start(std::move(*uploader));
  } else {
    stop(std::get<StopUploader>(*command));
  }
}

void ControlledMonitor::start(Uploader uploader) {
  was_started_ = true;
  link_.tell(started_answer(uploader.name));
  std::erase_if(running_, [&](const Running& running) { return running.uploader.name == uploader.name; });
  running_.push_back({.uploader = std::move(uploader), .due_boot_ns = boot_time_ns()});
}

void ControlledMonitor::stop(const StopUploader& wanted) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Running& running) { return running.uploader.name == wanted.name; });
  if (found == running_.end()) {
    link_.tell(stopped_answer(wanted.name, true, "", nullptr));
    return;
  }
  std::string reason;
  if (wanted.flushes) {
    next_try_boot_ns_ = next_store_boot_ns_ = 0;
    reason = look(found->uploader.figures).message();
  }
  running_.erase(found);
  const int64_t timeout_ns = wanted.flushes ? wanted.timeout_ns : 0;
  const bool is_sent = running_.empty() ? finish(timeout_ns) : drain(timeout_ns);
  if (reason.empty() && wanted.flushes && !is_sent) reason = "not everything was sent in time";
  if (monitor_.has_value()) {
    for (const auto& pipe : monitor_->pipes()) {
      const std::string failure = pipe->counters().last_failure;
      if (reason.empty() && !failure.empty()) reason = fmt::format("{}: {}", pipe->name(), failure);
    }
  }
  link_.tell(stopped_answer(wanted.name, wanted.flushes && reason.empty(), reason, latest_ ? &*latest_ : nullptr));
}

/// Finds the job and opens the sinks, where that has not been done; what cannot be done now is tried again later.
Status ControlledMonitor::ready() {
  if (monitor_.has_value()) return {};
  if (boot_time_ns() < next_try_boot_ns_) return not_ready_;
  next_try_boot_ns_ = boot_time_ns() + kTryAgainNs;
  const auto attempt = [&]() -> Status {
    if (job_ == nullptr) {
      ASSIGN_OR_RETURN(job_, follow_job(context_, plan_.job, {}, search()));
    }
    ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Pipe>> pipes, open_sinks(context_, plan_, *job_));
    monitor::MonitorOptions options = monitor_options(context_, plan_, options_, *job_);
    options.on_look = [this](const exporters::Update& update) { latest_ = update.report; };
    monitor_.emplace(*job_, std::move(pipes), std::move(options), system_clock());
    return {};
  };
  not_ready_ = attempt();
  if (not_ready_.code() != StatusCode::kNotFound) complain(not_ready_);
  return not_ready_;
}

StoreSearch ControlledMonitor::search() {
  const int64_t now_ns = boot_time_ns();
  const bool asks_store = now_ns >= next_store_boot_ns_;
  if (asks_store) next_store_boot_ns_ = now_ns + kAskStoreAgainNs;
  return {.in_usual_store = asks_store, .is_patient = false, .retention_ns = plan_.retention_ns};
}

Status ControlledMonitor::look(const Figures& figures) {
  RETURN_IF_ERROR(ready());
  std::vector<int64_t> windows_ns;
  int64_t interval_ns = plan_.interval_ns;
  for (const Running& running : running_) {
    interval_ns = &running == running_.data() ? running.uploader.interval_ns
                                              : std::min(interval_ns, running.uploader.interval_ns);
    for (const int64_t window_ns : running.uploader.windows_ns) {
      if (std::find(windows_ns.begin(), windows_ns.end(), window_ns) == windows_ns.end())
        windows_ns.push_back(window_ns);
    }
  }
  monitor_->set_rhythm(std::move(windows_ns), interval_ns);
  const Status cycle = monitor_->cycle(figures);
  if (cycle.code() != StatusCode::kNotFound) complain(cycle);
  return cycle;
}

void ControlledMonitor::look_when_due() {
  const int64_t now_ns = boot_time_ns();
  // What the death of a trainer changed is told at once.
  const bool is_news = monitor_.has_value() && monitor_->has_news();
  Figures figures = kNoFigures;
  bool is_due = false;
  for (const Running& running : running_) {
    if (!is_news && now_ns < running.due_boot_ns) continue;
    figures = figures.joined(running.uploader.figures);
    is_due = true;
  }
  if (!is_due) return;
  const bool is_done = look(figures).ok();
  for (Running& running : running_) {
    if (!is_news && now_ns < running.due_boot_ns) continue;
    running.due_boot_ns = now_ns + (is_done ? running.uploader.interval_ns : kTryAgainNs);
  }
}

/// While other uploaders go on: waits until everything is sent, or for so long. Whether it is.
bool ControlledMonitor::drain(int64_t timeout_ns) {
  if (!monitor_.has_value()) return true;
  const int64_t until_ns = boot_time_ns() + timeout_ns;
  while (boot_time_ns() < until_ns && monitor_->has_unsent()) {
    usleep(kDrainNs / 1000);
  }
  return !monitor_->has_unsent();
}

bool ControlledMonitor::finish(int64_t timeout_ns) { return !monitor_.has_value() || monitor_->finish(timeout_ns); }

void ControlledMonitor::notice_who_is_left() {
  if (alone_since_boot_ns_.has_value() || (!link_.is_closed() && getppid() == trainer_)) return;
  alone_since_boot_ns_ = boot_time_ns();
  trainers_seen_ = monitor_.has_value() ? monitor_->trainers_seen() : 0;
  let_go_of_output();
}

bool ControlledMonitor::is_over() {
  if (!alone_since_boot_ns_.has_value()) return false;
  if (!monitor_.has_value()) return boot_time_ns() - *alone_since_boot_ns_ >= plan_.linger_ns;
  return monitor_->is_over() || (trainers_seen_ > 0 && monitor_->look_for_trainer() > trainers_seen_);
}

Figures ControlledMonitor::all_figures() const {
  Figures figures = kNoFigures;
  for (const Running& running : running_) figures = figures.joined(running.uploader.figures);
  return figures;
}

/// Once in a row of the same, here and to the training process.
void ControlledMonitor::complain(const Status& status) {
  if (status.ok() || complained_ == status.message()) return;
  complained_ = status.message();
  context_.note("goodput monitor: " + complained_);
  link_.tell(refused_answer(complained_));
}

}  // namespace

int run_controlled_monitor(Context& context, const MonitorPlan& plan, const MonitorOptions& options,
                           SignalQueue& signals) {
  close_all_but(plan.control_fd);
  return ControlledMonitor(context, plan, options, signals).run();
}

}  // namespace goodput::cli
