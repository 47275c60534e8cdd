// Launches a command, watches it, passes signals on, and starts it again when it fails: all of `goodput run` but its
// options and its journal.
//
//   const LaunchPlan plan{.job = "llama-7b", .command = {"python", "train.py"}};
//   return supervise(plan, log);          // the command's exit code, or 128 + signal
//
// The command stays in this process's group, so keys of the terminal reach it as they would without us, and it reads
// the terminal. Orphans below it become children of this process: none of them lives on beside the next attempt, nor
// after a stop. docs/guides/run.md says what is promised.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/launch_log.h"
#include "cli/run/restart_policy.h"

namespace goodput::cli {

struct LaunchPlan {
  std::string job{};
  std::string run_id{};                ///< empty: none
  std::vector<std::string> command{};  ///< not empty
  /// What else the command is to find in its environment, besides the job, the run, the attempt and the folder.
  std::vector<std::pair<std::string, std::string>> variables{};
  RestartPolicy::Limits restarts{};
  /// From SIGTERM to SIGKILL. 30 s: what Kubernetes and Slurm (KillWait) grant themselves.
  int64_t grace_ns = 30'000'000'000;
  std::vector<int> preempt_signals{};  ///< notices of a preemption; passed on as any signal is
  bool quiet = false;                  ///< says nothing on stderr
};

/// Runs the command until it is done and returns the exit code for the process. Call it in the main thread, before any
/// other thread exists (those that `log` starts are welcome); it holds signals back while it runs.
int supervise(const LaunchPlan& plan, const LaunchLog& log);

}  // namespace goodput::cli
