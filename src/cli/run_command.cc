// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/run/launch_journal.h"
#include "cli/run/supervisor.h"
#include "cli/run_options.h"

namespace goodput::cli {
namespace {

/// What the command's own recorders are to find in the environment, so that rank 0 knows what the launcher was told.
std::vector<std::pair<std::string, std::string>> variables_of(const RunPlan& plan) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (!plan.labels.empty()) {
    std::string labels;
    for (const auto& [key, value] : plan.labels)
      labels += fmt::format("{}{}={}", labels.empty() ? "" : ",", key, value);
    variables.emplace_back("GOODPUT_LABELS", labels);
  }
  if (plan.accelerators) variables.emplace_back("GOODPUT_ACCELERATORS", std::to_string(*plan.accelerators));
  if (!plan.accelerator_type.empty()) variables.emplace_back("GOODPUT_ACCELERATOR_TYPE", plan.accelerator_type);
  return variables;
}

LaunchPlan launch_plan_of(const RunPlan& plan, bool quiet) {
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  return {.job = plan.job,
          .run_id = plan.run_id,
          .command = plan.command,
          .variables = variables_of(plan),
          .restarts = {.max_restarts = static_cast<int>(std::min(plan.max_restarts, kMost)), .enabled = plan.restarts},
          .grace_ns = plan.grace_ns,
          .preempt_signals = plan.preempt_signals,
          .quiet = quiet};
}

/// The command may change to another folder before it records.
std::string absolute(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(folder, failed);
  return folder.empty() || failed ? folder : path.string();
}

int run_run(Context& context, const RunOptions& options, const std::vector<std::string>& command) {
  const Result<RunPlan> plan = resolve(options, command);
  if (!plan.ok()) return context.fail("run", plan.status());
  RecorderOptions recorder{.job = plan->job, .run_id = plan->run_id, .directory = absolute(context.globals.dir)};
  recorder.labels.assign(plan->labels.begin(), plan->labels.end());
  recorder.accelerators = plan->accelerators;
  recorder.accelerator_type = plan->accelerator_type;
  LaunchJournal journal(recorder);
  return supervise(launch_plan_of(*plan, context.globals.quiet), journal.log());
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .group = kLaunch,
          .summary = "launch a command, record how it ends, start it again when it fails",
          .examples =
              "goodput run --job llama-7b -- python train.py\n"
              "goodput run --job llama-7b --preempt-signal USR1 --grace 90s -- torchrun train.py\n"
              "srun goodput run --job llama-7b --no-restart -- python train.py",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<RunOptions>();
            add_run_options(app, *options);
            return [options, &app](Context& context) {
              return run_run(context, *options, run_command_of(app, context.from_dashes));
            };
          }};
}

}  // namespace goodput::cli
