// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/time_text.h"

namespace goodput::cli {
namespace {

Result<int64_t> duration(const char* option, const std::string& text) {
  const Result<int64_t> parsed = parse_duration(text);
  if (parsed.ok()) return *parsed;
  return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", option, parsed.status().message()));
}

}  // namespace

void add_monitor_options(CLI::App& app, MonitorOptions& options) {
  app.add_option("job", options.job, "the job: NAME, its latest run, or NAME@RUN")->type_name("JOB")->required();
  app.add_option("--interval", options.interval, "time between two looks at the job")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--window", options.windows, "a rolling window that ends now, as 1h; may be given again")
      ->type_name("DURATION")
      ->allow_extra_args(false);
  app.add_option("--tensorboard", options.tensorboard, "write to DIR/goodput, for TensorBoard")->type_name("DIR");
  app.add_option("--prometheus", options.prometheus, "serve /metrics there, for Prometheus")->type_name("HOST:PORT");
  app.add_option("--linger", options.linger, "how long to watch on after the job has ended")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--flush-timeout", options.flush_timeout, "how long the last word may take at the end")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_flag("--once", options.once, "look once, export, and end");
  app.add_flag("--follow", options.follow, "watch on for ever, downtime included");
  app.add_flag("--wait", options.wait, "wait for a job that does not exist yet");
  // For programs only: what is said there is in cli/monitor_control.h.
  app.add_option("--control", options.control, "take commands from this descriptor")->type_name("FD")->group("");
}

Result<MonitorPlan> resolve(const MonitorOptions& options) {
  MonitorPlan plan{.job = options.job,
                   .windows_ns = {},
                   .tensorboard = options.tensorboard,
                   .prometheus = options.prometheus,
                   .once = options.once,
                   .follows = options.follow,
                   .waits = options.wait,
                   .control_fd = options.control};
  ASSIGN_OR_RETURN(plan.interval_ns, duration("--interval", options.interval));
  constexpr int64_t kLeastNs = 100'000'000;
  if (plan.interval_ns < kLeastNs) {
    return Status(StatusCode::kInvalidArgument, "--interval: it is to be 0.1 seconds or more");
  }
  for (const std::string& window : options.windows) {
    ASSIGN_OR_RETURN(const int64_t length_ns, duration("--window", window));
    if (length_ns <= 0) return Status(StatusCode::kInvalidArgument, "--window: it is to be longer than 0");
    plan.windows_ns.push_back(length_ns);
  }
  ASSIGN_OR_RETURN(plan.linger_ns, duration("--linger", options.linger));
  ASSIGN_OR_RETURN(plan.flush_timeout_ns, duration("--flush-timeout", options.flush_timeout));
  if (plan.tensorboard.empty() && plan.prometheus.empty() && plan.control_fd < 0) {
    return Status(StatusCode::kInvalidArgument,
                  "there is nowhere to export to: give --tensorboard DIR or --prometheus HOST:PORT");
  }
  return plan;
}

}  // namespace goodput::cli
