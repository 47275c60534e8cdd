// Signals as values: held back from the moment it exists, and handed out one at a time.
//
// Use one in the main thread before any other thread starts (threads inherit what is held back), and give children its
// original_mask().
//
//   SignalQueue signals;
//   while (const auto signal = signals.next(kSecond)) kill(child, signal->number);      // nothing: a second has passed
//
// Every signal is held back but SIGKILL and SIGSTOP, which nobody can, those that were ignored when it was made, which
// children ignore too, and, unless this is process 1, those by which a shell stops and continues a job. A fault of this
// process still ends it. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace goodput::cli {

struct Signal {
  int number = 0;
  pid_t sender = 0;  ///< 0: the kernel, or a process that is not seen from here
  /// A key or a change of the terminal: it went to all processes of our group, the child's among them.
  bool from_terminal = false;
};

class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();  ///< what is still waiting is dropped
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Waits so long (nothing: for ever; 0 and less: not at all) for a signal from others. SIGCHLD is among them. May
  /// return nothing before the time is over.
  std::optional<Signal> next(std::optional<int64_t> timeout_ns);

  [[nodiscard]] const sigset_t& original_mask() const { return original_mask_; }

 private:
  sigset_t held_;
  sigset_t original_mask_;
};

}  // namespace goodput::cli
