// `goodput monitor`: follows a job from outside of its processes and exports what becomes of its time.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <goodput/recorder.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/host_name.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/monitor_options.h"
#include "cli/monitor_sinks.h"
#include "cli/monitor_status_page.h"
#include "cli/price_options.h"
#include "cli/run/signal_queue.h"
#include "monitor/monitor.h"

namespace goodput::cli {
namespace {

constexpr int64_t kLookForNewsNs = 200'000'000;  // how soon a death shows
constexpr int64_t kWaitForJobNs = 1'000'000'000;

bool is_end(const std::optional<Signal>& signal) {
  return signal.has_value() && (signal->number == SIGTERM || signal->number == SIGINT || signal->number == SIGHUP ||
                                signal->number == SIGQUIT);
}

/// Waits for the job where that was asked for. Empty: a signal came first.
Result<std::unique_ptr<monitor::FollowedJob>> find_job(Context& context, const MonitorPlan& plan,
                                                       SignalQueue& signals) {
  for (bool told = false;;) {
    Result<std::unique_ptr<monitor::FollowedJob>> job = follow_job(context, plan.job, {});
    if (job.ok() || !plan.waits || job.status().code() != StatusCode::kNotFound) return job;
    if (!std::exchange(told, true)) context.note(fmt::format("goodput monitor: waiting for job \"{}\"", plan.job));
    if (is_end(signals.next(kWaitForJobNs))) return std::unique_ptr<monitor::FollowedJob>();
  }
}

/// Records what the trainer cannot: that it ended.
void record_death(monitor::FollowedJob& job, const std::string& directory, const std::string& attempt_id,
                  int64_t time_ns) {
  const journal::JobLog::JobFacts facts = job.log().job_facts();
  Recorder recorder = Recorder::open(
      {.job = facts.job, .run_id = facts.run_id, .role = "monitor", .attempt_id = attempt_id, .directory = directory});
  recorder.process_exit({}, time_ns);
}

/// Until it is over or a signal ends it; the status is that of a cycle that cannot be gone on from.
Status watch(Context& context, const MonitorPlan& plan, monitor::Monitor& monitor, SignalQueue& signals) {
  for (bool told = false;;) {
    const Status cycle = monitor.cycle();
    if (!cycle.ok() && plan.once) return cycle;
    if (!cycle.ok() && !std::exchange(told, true)) context.note("goodput monitor: " + cycle.message());
    if (plan.once || monitor.is_over()) return {};
    const int64_t next_ns = boot_time_ns() + plan.interval_ns;
    for (int64_t left_ns = plan.interval_ns; left_ns > 0 && !monitor.has_news(); left_ns = next_ns - boot_time_ns()) {
      if (is_end(signals.next(std::min(left_ns, kLookForNewsNs)))) {
        (void)monitor.cycle();  // the last word
        return {};
      }
    }
  }
}

monitor::MonitorStatus about(const Context& context, const MonitorPlan& plan, const MonitorOptions& options) {
  monitor::MonitorStatus status;
  status.host = host_name();
  status.boot_id = read_boot_id();
  status.pid = getpid();
  status.version = GOODPUT_VERSION;
  status.started_ns = context.now_ns;
  status.interval_ns = plan.interval_ns;
  status.options = in_effect(options);
  return status;
}

int run_monitor(Context& context, const MonitorOptions& options) {
  const Result<MonitorPlan> plan = resolve(options);
  if (!plan.ok()) return context.fail("monitor", plan.status());
  if (plan->asks_status) return show_monitor_status(context, plan->job);
  SignalQueue signals;
  Result<std::unique_ptr<monitor::FollowedJob>> job = find_job(context, *plan, signals);
  if (!job.ok()) return context.fail("monitor", job.status());
  if (*job == nullptr) return kDone;
  auto pipes = open_sinks(context, *plan);
  if (!pipes.ok()) return context.fail("monitor", pipes.status());
  setenv("GOODPUT_QUIET", "1", 1);  // the journal of a death is no recording that anybody wants to be told of
  monitor::Monitor monitor(
      **job, std::move(pipes).value(),
      {.windows_ns = plan->windows_ns,
       .linger_ns = plan->linger_ns,
       .follows = plan->follows,
       .price = [&](std::string_view type) { return price_for(plan->price, context.config, type); },
       .about = about(context, *plan, options),
       .on_death = [&](const std::string& attempt_id,
                       int64_t time_ns) { record_death(**job, context.globals.dir, attempt_id, time_ns); }},
      system_clock());
  const Status watched = watch(context, *plan, monitor, signals);
  const bool all_sent = monitor.finish(plan->flush_timeout_ns);
  if (!watched.ok()) return context.fail("monitor", watched);
  for (const auto& pipe : monitor.pipes()) {
    const exporters::PipeCounters counters = pipe->counters();
    if (counters.last_failure.empty()) continue;
    context.note(fmt::format("goodput monitor: {}: {}", pipe->name(), counters.last_failure));
  }
  return all_sent ? kDone : kCannot;
}

}  // namespace

Command monitor_command() {
  return {.name = "monitor",
          .group = kWatch,
          .summary = "follow a job from outside and export what becomes of its time",
          .examples =
              "goodput monitor llama-7b --tensorboard runs/llama-7b --window 1h --window 24h\n"
              "goodput monitor llama-7b --prometheus 0.0.0.0:9464 --interval 15s --wait\n"
              "goodput monitor llama-7b --tensorboard runs/llama-7b --once\n"
              "goodput monitor llama-7b --status",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<MonitorOptions>();
            add_monitor_options(app, *options);
            return [options](Context& context) { return run_monitor(context, *options); };
          }};
}

}  // namespace goodput::cli
