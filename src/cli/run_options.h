// The options of `goodput run`.
//
//   auto options = std::make_shared<RunOptions>();
//   add_run_options(app, *options);
//   …
//   Result<RunPlan> plan = resolve(*options, run_command_of(app, context.from_dashes));
//
// The option struct must live as long as the app. Nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace CLI {
class App;
}

namespace goodput::cli {

/// As typed.
struct RunOptions {
  std::string job, run_id;
  int64_t max_restarts = 3;
  bool no_restart = false;
  std::string grace = "30s";
  std::vector<std::string> preempt_signals;
  std::vector<std::string> labels;
  std::string accelerators, accelerator_type;
};

/// As meant.
struct RunPlan {
  std::string job{}, run_id{};
  int64_t max_restarts = 3;
  bool restarts = true;  ///< false with --no-restart
  int64_t grace_ns = 0;
  std::vector<int> preempt_signals{};
  std::map<std::string, std::string> labels{};
  std::optional<int64_t> accelerators{};
  std::string accelerator_type{};
  std::vector<std::string> command{};
};

void add_run_options(CLI::App& app, RunOptions& options);

/// The words of the command, once the command line was read: what the app left over, and what was cut off it from the
/// first `--` on.
std::vector<std::string> run_command_of(const CLI::App& app, const std::vector<std::string>& from_dashes = {});

/// kInvalidArgument, naming the option, for what makes no sense: no job, no command, a signal that is none.
Result<RunPlan> resolve(const RunOptions& options, const std::vector<std::string>& command);

}  // namespace goodput::cli
