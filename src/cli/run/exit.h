// How a process ended, as whoever waited for it knows.
//
//   const Exit end = exit_of(wait_status);
//   end.shell_code();                     // 137 for SIGKILL, as in a shell
//   describe(end);                        // "was ended by SIGKILL, out of memory"
//
// Plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace goodput::cli {

/// What a shell says where a command was not found, and where it cannot be executed.
constexpr int kNotFoundCode = 127;
constexpr int kNotExecutableCode = 126;
/// What `goodput run` says when it failed itself.
constexpr int kOwnFailureCode = 125;

struct Exit {
  int code = 0;                ///< where signal is 0
  int signal = 0;              ///< the signal that ended it
  bool out_of_memory = false;  ///< meanwhile the system killed a process of its control group for want of memory

  [[nodiscard]] bool succeeded() const { return signal == 0 && code == 0; }
  /// There is no such program, or it is none: that will not change by itself.
  [[nodiscard]] bool cannot_run() const { return signal == 0 && (code == kNotFoundCode || code == kNotExecutableCode); }
  [[nodiscard]] int shell_code() const { return signal == 0 ? code : 128 + signal; }
  friend bool operator==(const Exit&, const Exit&) = default;
};

/// Of what waitpid() reported for a process that is gone.
Exit exit_of(int wait_status);

/// To go on after "attempt 2 ": "ended with code 1", "was ended by SIGSEGV".
std::string describe(const Exit& exit);

}  // namespace goodput::cli
