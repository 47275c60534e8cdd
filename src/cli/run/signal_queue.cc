// SPDX-License-Identifier: Apache-2.0
#include "cli/run/signal_queue.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace goodput::cli {
namespace {

bool is_ignored(int signal) {
  struct sigaction now;
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// The shell's means to stop and continue a job. They reach the whole group, and stopping together is what is wanted.
/// Process 1 cannot be stopped, so there they are for the child.
bool is_job_control(int signal) {
  return signal == SIGTTIN || signal == SIGTTOU || ((signal == SIGTSTP || signal == SIGCONT) && getpid() != 1);
}

bool is_made_by_terminal(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP || signal == SIGWINCH;
}

}  // namespace

SignalQueue::SignalQueue() {
  // With SIGCHLD ignored the kernel forgets how children ended.
  if (is_ignored(SIGCHLD)) signal(SIGCHLD, SIG_DFL);
  sigemptyset(&held_);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    // The C library keeps those between the two ranges for itself, and refuses to add them.
    if (!is_job_control(signal) && !is_ignored(signal)) sigaddset(&held_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &held_, &original_mask_);
}

SignalQueue::~SignalQueue() {
  const timespec now{};
  while (sigtimedwait(&held_, nullptr, &now) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &original_mask_, nullptr);
}

std::optional<Signal> SignalQueue::next(std::optional<int64_t> timeout_ns) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t wait_ns = std::max<int64_t>(timeout_ns.value_or(0), 0);
  const timespec timeout{.tv_sec = wait_ns / kNsPerSecond, .tv_nsec = wait_ns % kNsPerSecond};
  siginfo_t received{};
  const int number = sigtimedwait(&held_, &received, timeout_ns ? &timeout : nullptr);
  if (number < 0) return std::nullopt;  // the time is over, or this process was stopped and continued
  // By our own writes: SIGPIPE of a screen that is gone, SIGXFSZ.
  if (received.si_code <= 0 && received.si_pid == getpid()) return std::nullopt;
  return Signal{.number = number,
                .sender = received.si_code <= 0 ? received.si_pid : 0,
                .from_terminal = received.si_code == SI_KERNEL && is_made_by_terminal(number)};
}

}  // namespace goodput::cli
