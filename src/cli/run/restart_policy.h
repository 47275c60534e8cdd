// Whether a command that ended is started again, and after how long.
//
//   RestartPolicy policy({.max_restarts = 3});
//   const Verdict verdict = policy.after({.signal = SIGKILL}, /*made_progress=*/true);
//   if (verdict.next == Verdict::Next::kRestart) sleep(verdict.delay_ns);
//
// Pure: no clock, no process. One thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cli/run/exit.h"

namespace goodput::cli {

struct Verdict {
  enum class Next : uint8_t {
    kRestart,
    kDone,    ///< it succeeded, was told to stop, or somebody else restarts
    kGiveUp,  ///< it failed, and nobody will start it again
  };
  Next next = Next::kDone;
  int restart = 0;       ///< of kRestart: which one since the last progress, from 1
  int64_t delay_ns = 0;  ///< of kRestart: from the end of the command to its next start
};

class RestartPolicy {
 public:
  struct Limits {
    /// In a row, without progress in between. Three of them take 7 s: longer than most ports and devices need to be
    /// free again, and soon enough for whoever mistyped an option.
    int max_restarts = 3;
    bool enabled = true;  ///< false: a scheduler restarts, so a failure is not the job's end
    /// Twice as long each time, so that a machine in trouble is not made worse.
    int64_t first_delay_ns = 1'000'000'000;
    int64_t longest_delay_ns = 60'000'000'000;
  };

  explicit RestartPolicy(const Limits& limits) : limits_(limits) {}
  [[nodiscard]] const Limits& limits() const { return limits_; }

  /// Judges one end. `made_progress`: the command recorded a step, so the count starts again.
  Verdict after(const Exit& exit, bool made_progress);

 private:
  Limits limits_;
  int restarts_ = 0;  // since the last progress
};

}  // namespace goodput::cli
