// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <utility>

#include "base/time_text.h"
#include "cli/run/signal_names.h"

namespace goodput::cli {
namespace {

Status about(const char* option, const std::string& message) {
  return {StatusCode::kInvalidArgument, fmt::format("{}: {}", option, message)};
}

// "a=1,b=2" from the environment counts as two.
Status read_labels(const std::vector<std::string>& texts, std::map<std::string, std::string>& labels) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return about("--label", fmt::format("\"{}\" is not KEY=VALUE", text));
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return {};
}

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options) {
  app.prefix_command();
  app.add_option("--job", options.job, "the job that the command trains")->type_name("NAME")->envname("GOODPUT_JOB");
  app.add_option("--run-id", options.run_id, "the run of that job")->type_name("RUN")->envname("GOODPUT_RUN_ID");
  app.add_option("--max-restarts", options.max_restarts, "in a row without progress; 3 unless told")
      ->type_name("NUMBER")
      ->envname("GOODPUT_MAX_RESTARTS")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  app.add_flag("--no-restart", options.no_restart, "launch once: another launcher restarts")
      ->envname("GOODPUT_NO_RESTART");
  app.add_option("--grace", options.grace, "from SIGTERM to SIGKILL; 30s unless told")
      ->type_name("DURATION")
      ->envname("GOODPUT_GRACE");
  app.add_option("--preempt-signal", options.preempt_signals, "this signal is the notice of a preemption")
      ->type_name("SIGNAL")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->envname("GOODPUT_PREEMPT_SIGNAL");
  app.add_option("--label", options.labels, "kept with the job")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->envname("GOODPUT_LABELS");
  app.add_option("--accelerators", options.accelerators, "how many the job holds")
      ->type_name("NUMBER")
      ->envname("GOODPUT_ACCELERATORS");
  app.add_option("--accelerator-type", options.accelerator_type, "of which type: H100, v5p, …")
      ->type_name("TYPE")
      ->envname("GOODPUT_ACCELERATOR_TYPE");
}

std::vector<std::string> run_command_of(const CLI::App& app, const std::vector<std::string>& from_dashes) {
  std::vector<std::string> words = app.remaining();
  words.insert(words.end(), from_dashes.begin(), from_dashes.end());
  // Only the first `--` is ours: `goodput run --job j -- cmd -- x` launches `cmd -- x`.
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  return words;
}

Result<RunPlan> resolve(const RunOptions& options, const std::vector<std::string>& command) {
  if (options.job.empty()) return about("--job", "name the job that the command trains");
  if (command.empty()) return Status(StatusCode::kInvalidArgument, "the command to launch stands after `--`");
  // A mistyped option looks like the first word of a command.
  if (command.front().starts_with('-')) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("there is no option `{}`; see `goodput run --help`", command.front()));
  }
  RunPlan plan{.job = options.job,
               .run_id = options.run_id,
               .max_restarts = options.max_restarts,
               .restarts = !options.no_restart};
  Result<int64_t> grace_ns = parse_duration(options.grace);
  if (!grace_ns.ok()) return about("--grace", grace_ns.status().message());
  plan.grace_ns = *grace_ns;
  for (const std::string& text : options.preempt_signals) {
    const Result<int> signal = parse_signal(text);
    if (!signal.ok()) {
      return about("--preempt-signal", fmt::format("\"{}\" is no signal that can be caught", text));
    }
    plan.preempt_signals.push_back(*signal);
  }
  RETURN_IF_ERROR(read_labels(options.labels, plan.labels));
  if (!options.accelerators.empty()) {
    plan.accelerators = whole_number(options.accelerators);
    if (!plan.accelerators || *plan.accelerators < 1) {
      return about("--accelerators", fmt::format("\"{}\" is not a number from 1 on", options.accelerators));
    }
  }
  plan.accelerator_type = options.accelerator_type;
  plan.command = command;
  return plan;
}

}  // namespace goodput::cli
