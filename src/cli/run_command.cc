// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/follow_job.h"
#include "cli/run/exit.h"
#include "cli/run/launch_journal.h"
#include "cli/run/supervisor.h"
#include "cli/run_options.h"
#include "record/identity.h"

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

/// Its journal is closed when it is over.
int launch(const RunPlan& plan, const RecorderOptions& recorder, bool quiet) {
  LaunchJournal journal(recorder);
  return supervise(launch_plan_of(plan, quiet), journal.log());
}

/// What the next reader would have to do before its answer: the dead are sealed, the account is kept. Nothing that
/// fails here is a failure of the launch.
void tidy(const Context& context, const monitor::RunName& run) {
  const auto job = follow_run(context, run, {});
  if (job.ok()) static_cast<void>((*job)->report({.now_ns = system_clock().wall_ns()}));
}

int run_run(Context& context, const RunOptions& options, const std::vector<std::string>& command) {
  const Result<RunPlan> plan = resolve(options, command);
  if (!plan.ok()) return context.fail("run", plan.status());
  RecorderOptions recorder{.job = plan->job, .run_id = plan->run_id, .directory = absolute(context.globals.dir)};
  recorder.labels.assign(plan->labels.begin(), plan->labels.end());
  recorder.accelerators = plan->accelerators;
  recorder.accelerator_type = plan->accelerator_type;
  const int code = launch(*plan, recorder, context.globals.quiet);
  // Who was told to stop has little time, and of a thousand launchers one is enough.
  const record::Identity launcher = record::resolve_identity(recorder, journal::system_environment());
  if (launcher.process_index == 0 && code != Exit{.signal = SIGTERM}.shell_code()) {
    tidy(context, {launcher.job, launcher.run_id});
  }
  return code;
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
