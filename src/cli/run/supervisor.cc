// SPDX-License-Identifier: Apache-2.0
#include "cli/run/supervisor.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "cli/run/course.h"
#include "cli/run/family.h"
#include "cli/run/memory_events.h"
#include "cli/run/program.h"
#include "cli/run/signal_names.h"
#include "cli/run/signal_queue.h"

namespace goodput::cli {
namespace {

using Phase = Course::Phase;

/// How often to look for orphans while an attempt is cleared away: they arrive without a signal. One look at 1,000
/// processes takes about 10 ms.
constexpr int64_t kLookForOrphansNs = 100'000'000;
constexpr double kNsPerSecond = 1e9;

int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string count_of(size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// 16 hex digits, different each time.
std::string fresh_attempt_id() {
  std::array<unsigned char, 8> bytes{};
  // Before the pool is ready the clock must do: ids need to differ, not to be secret.
  if (getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) < 0) {
    const int64_t now = now_ns() ^ (int64_t{getpid()} << 40);
    std::copy_n(reinterpret_cast<const unsigned char*>(&now), bytes.size(), bytes.begin());
  }
  std::string id;
  for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

/// A launcher or scheduler around us has named the attempt, alike for all ranks.
bool is_attempt_named() {
  for (const char* name : {"GOODPUT_ATTEMPT_ID", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "JOBSET_RESTART_ATTEMPT"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

class Supervisor {
 public:
  Supervisor(const LaunchPlan& plan, const LaunchLog& log)
      : plan_(plan), log_(log), course_(RestartPolicy(plan.restarts), plan.grace_ns) {}

  int run() {
    const char* search_path = std::getenv("PATH");
    program_ = find_program(plan_.command[0], search_path == nullptr ? "/bin:/usr/bin" : search_path);
    if (program_.shell_code != 0) {
      // Nothing was launched: a mistyped command leaves no trace in the job.
      say(program_.problem);
      return program_.shell_code;
    }
    while (course_.phase() != Phase::kDone) {
      if (course_.phase() == Phase::kLaunch) {
        start();
      } else if (course_.phase() == Phase::kClearing) {
        clear();
      } else {
        if (course_.is_killing()) kill_all();
        wait(std::nullopt);
      }
    }
    return course_.exit_code();
  }

 private:
  void start();
  void clear();
  void wait(std::optional<int64_t> at_most_ns);
  void take(const Signal& signal);
  void reap();
  void command_ended(Exit exit);
  void kill_all();
  void say_verdict(const Exit& exit, const Verdict& verdict) const;

  void say(const std::string& sentence) const {
    const std::string line = fmt::format("goodput: {}\n", sentence);
    // Nobody may be reading any more, which is no reason to end.
    if (!plan_.quiet && write(STDERR_FILENO, line.data(), line.size()) < 0) return;
  }

  const LaunchPlan& plan_;
  const LaunchLog& log_;
  SignalQueue signals_;  // before anything that may start a thread
  Family family_;
  MemoryEvents memory_;
  Course course_;
  Program program_;
  int attempt_ = 0;
  pid_t child_ = -1;
  std::optional<uint64_t> oom_kills_before_;
  std::vector<pid_t> told_to_end_;
  bool is_clearing_said_ = false;
  bool is_killing_said_ = false;
};

void Supervisor::start() {
  ++attempt_;
  is_clearing_said_ = is_killing_said_ = false;
  // Where ranks are launched one by one, an id made here would part them.
  const bool keeps_name = !plan_.restarts.enabled && is_attempt_named();
  const std::string id = keeps_name ? "" : fresh_attempt_id();
  const std::string folder = log_.attempt_starts(id);
  auto variables = plan_.variables;
  variables.insert(variables.end(), {{"GOODPUT_JOB", plan_.job}, {"GOODPUT_RUN_ID", plan_.run_id}});
  if (!keeps_name) variables.emplace_back("GOODPUT_ATTEMPT_ID", id);
  if (!folder.empty()) variables.emplace_back("GOODPUT_DIR", folder);
  oom_kills_before_ = memory_.oom_kills();
  const Launched launched = launch({.program = program_.path,
                                    .arguments = plan_.command,
                                    .environment = with_variables(environ, variables),
                                    .signal_mask = signals_.original_mask()});
  if (launched.pid > 0) {
    child_ = launched.pid;
    course_.launched();
    return;
  }
  say(launched.problem);
  if (launched.shell_code == kOwnFailureCode) {
    log_.gave_up();
    course_.abandon(kOwnFailureCode);
    return;
  }
  course_.launched();
  command_ended({.code = launched.shell_code});
}

void Supervisor::wait(std::optional<int64_t> at_most_ns) {
  std::optional<int64_t> timeout_ns = at_most_ns;
  if (const auto deadline_ns = course_.deadline_ns()) {
    const int64_t left_ns = *deadline_ns - now_ns();
    timeout_ns = timeout_ns ? std::min(*timeout_ns, left_ns) : left_ns;
  }
  if (const auto signal = signals_.next(timeout_ns)) take(*signal);
  course_.advance(now_ns());
}

void Supervisor::take(const Signal& signal) {
  if (signal.number == SIGCHLD) return reap();
  const std::string name = signal_name(signal.number);
  const auto& notices = plan_.preempt_signals;
  if (std::find(notices.begin(), notices.end(), signal.number) != notices.end()) {
    log_.disrupted("preempted", name + " received by the launcher");
    say(name + ": notice of a preemption");
  }
  const bool was_stopping = course_.is_stopping();
  const bool is_for_child = course_.take_signal(signal.number, now_ns());
  if (signal.number == SIGTERM && is_for_child && !was_stopping) {
    say(fmt::format("SIGTERM: the command has {:g} s to end", static_cast<double>(plan_.grace_ns) / kNsPerSecond));
  }
  // A key of the terminal has reached the child by itself, unless the child went into a group of its own.
  const bool has_it = signal.from_terminal && getpgid(child_) == getpgrp();
  if (is_for_child && !has_it) kill(child_, signal.number);
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t gone = waitpid(-1, &status, WNOHANG); gone > 0; gone = waitpid(-1, &status, WNOHANG)) {
    if (gone == child_) {
      child_ = -1;
      command_ended(exit_of(status));
    } else {
      family_.forget(gone);
      std::erase(told_to_end_, gone);
    }
  }
}

void Supervisor::command_ended(Exit exit) {
  exit.out_of_memory = !exit.succeeded() && oom_kills_before_ && memory_.oom_kills() > oom_kills_before_;
  log_.exited(exit);
  if (exit.out_of_memory) log_.disrupted("oom", "the system killed a process of the control group");
  const bool made_progress = !exit.succeeded() && log_.made_progress();
  const Verdict verdict = course_.ended(exit, made_progress, now_ns());
  if (verdict.next == Verdict::Next::kGiveUp) log_.gave_up();
  if (!exit.succeeded()) say_verdict(exit, verdict);
}

void Supervisor::say_verdict(const Exit& exit, const Verdict& verdict) const {
  const std::string what = fmt::format("attempt {} {}", attempt_, describe(exit));
  const int most = plan_.restarts.max_restarts;
  if (verdict.next == Verdict::Next::kRestart) {
    say(fmt::format("{}; starting again in {:g} s (restart {} of {})", what,
                    static_cast<double>(verdict.delay_ns) / kNsPerSecond, verdict.restart, most));
  } else if (verdict.next == Verdict::Next::kDone) {
    say(what);
  } else if (exit.cannot_run()) {
    say(what + "; a command that cannot run is not started again");
  } else if (most == 0) {
    say(what + "; giving up");
  } else {
    say(fmt::format("{}; giving up after {} without progress", what,
                    count_of(static_cast<size_t>(most), "restart", "restarts")));
  }
}

/// One look at what the attempt has left: the new ones are told to end, or all are killed once grace is over.
void Supervisor::clear() {
  const std::vector<pid_t> left = family_.children();
  if (left.empty()) {
    told_to_end_.clear();
    course_.cleared();
    course_.advance(now_ns());
    return;
  }
  if (course_.is_killing()) {
    kill_all();
  } else {
    if (!std::exchange(is_clearing_said_, true)) {
      say(fmt::format("attempt {} left {} behind; ending {}", attempt_, count_of(left.size(), "process", "processes"),
                      left.size() == 1 ? "it" : "them"));
    }
    for (const pid_t process : left) {
      if (std::find(told_to_end_.begin(), told_to_end_.end(), process) != told_to_end_.end()) continue;
      kill(process, SIGTERM);
      told_to_end_.push_back(process);
    }
  }
  wait(kLookForOrphansNs);
}

void Supervisor::kill_all() {
  if (!std::exchange(is_killing_said_, true)) say("grace is over; killing what still runs");
  for (const pid_t process : family_.children()) kill(process, SIGKILL);
}

}  // namespace

int supervise(const LaunchPlan& plan, const LaunchLog& log) { return Supervisor(plan, log).run(); }

}  // namespace goodput::cli
