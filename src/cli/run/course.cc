// SPDX-License-Identifier: Apache-2.0
#include "cli/run/course.h"

#include <csignal>

namespace goodput::cli {

bool is_stop_signal(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
}

std::optional<int64_t> Course::deadline_ns() const {
  switch (phase_) {
    case Phase::kRunning:
      return is_killing_ ? std::nullopt : kill_at_ns_;
    case Phase::kClearing:
      return kill_at_ns_;
    case Phase::kBackOff:
      return restart_at_ns_;
    case Phase::kLaunch:
    case Phase::kDone:
      break;
  }
  return std::nullopt;
}

void Course::abandon(int exit_code) {
  exit_code_ = exit_code;
  phase_ = Phase::kDone;
}

bool Course::take_signal(int signal, int64_t now_ns) {
  is_stopping_ |= is_stop_signal(signal);
  if (is_stopping_ && (phase_ == Phase::kBackOff || phase_ == Phase::kLaunch)) phase_ = Phase::kDone;
  // Of the signals that stop, only SIGTERM is an order. Whoever presses Ctrl-C can do so again, and a debugger or a
  // notebook takes it for its own purposes.
  if (signal == SIGTERM && phase_ == Phase::kRunning && !kill_at_ns_) kill_at_ns_ = now_ns + grace_ns_;
  return phase_ == Phase::kRunning;
}

Verdict Course::ended(const Exit& exit, bool made_progress, int64_t now_ns) {
  exit_code_ = exit.shell_code();
  restart_at_ns_.reset();
  const Verdict verdict = is_stopping_ ? Verdict{} : policy_.after(exit, made_progress);
  if (verdict.next == Verdict::Next::kRestart) restart_at_ns_ = now_ns + verdict.delay_ns;
  if (exit.succeeded() && !is_stopping_) {
    // What a command that succeeded leaves behind, it leaves on purpose.
    phase_ = Phase::kDone;
    return verdict;
  }
  phase_ = Phase::kClearing;
  if (is_killing_) {
    kill_at_ns_ = now_ns + kKillPatienceNs;
  } else if (!kill_at_ns_) {
    kill_at_ns_ = now_ns + grace_ns_;
  }
  return verdict;
}

void Course::cleared() {
  kill_at_ns_.reset();
  is_killing_ = false;
  phase_ = restart_at_ns_ && !is_stopping_ ? Phase::kBackOff : Phase::kDone;
}

void Course::advance(int64_t now_ns) {
  if (phase_ == Phase::kBackOff && restart_at_ns_ && now_ns >= *restart_at_ns_) phase_ = Phase::kLaunch;
  if ((phase_ != Phase::kRunning && phase_ != Phase::kClearing) || !kill_at_ns_ || now_ns < *kill_at_ns_) return;
  if (is_killing_ && phase_ == Phase::kClearing) {
    cleared();
  } else if (!is_killing_) {
    is_killing_ = true;
    kill_at_ns_ = now_ns + kKillPatienceNs;
  }
}

}  // namespace goodput::cli
