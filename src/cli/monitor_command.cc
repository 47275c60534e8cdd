// `goodput monitor`: follows a job from outside of its processes and exports what becomes of its time.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/controlled_monitor.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/monitor_options.h"
#include "cli/monitor_sinks.h"
#include "cli/monitor_start.h"
#include "cli/monitor_status_page.h"
#include "cli/run/signal_queue.h"
#include "monitor/monitor.h"

namespace goodput::cli {
namespace {

constexpr int64_t kWaitForJobNs = 1'000'000'000;
constexpr int64_t kWaitForStoreNs = 10'000'000'000;  // it counts questions
// Larger buffers go back when they are freed, of which sealing a dead trainer's journal takes 16 MiB.
constexpr int kLargeBufferBytes = 1 << 20;

/// Waits for the job where that was asked for. Empty: a signal came first.
Result<std::unique_ptr<monitor::FollowedJob>> find_job(Context& context, const MonitorPlan& plan,
                                                       SignalQueue& signals) {
  for (bool told = false;;) {
    Result<std::unique_ptr<monitor::FollowedJob>> job =
        follow_job(context, plan.job, {}, {.is_patient = plan.once, .retention_ns = plan.retention_ns});
    if (job.ok() || !plan.waits || job.status().code() != StatusCode::kNotFound) return job;
    if (!std::exchange(told, true)) context.note(fmt::format("goodput monitor: waiting for job \"{}\"", plan.job));
    const bool asks_store = is_named_store(context.globals.store) || is_named_store(context.globals.usual_store);
    if (is_end(signals.next(asks_store ? kWaitForStoreNs : kWaitForJobNs)))
      return std::unique_ptr<monitor::FollowedJob>();
  }
}

/// Until it is over or a signal ends it; the status is that of a cycle that cannot be gone on from.
Status watch(Context& context, const MonitorPlan& plan, monitor::Monitor& monitor, SignalQueue& signals) {
  for (bool told = false;;) {
    const Status cycle = monitor.cycle();
    if (!cycle.ok() && plan.once) return cycle;
    if (!cycle.ok() && !std::exchange(told, true)) context.note("goodput monitor: " + cycle.message());
    if (plan.once || monitor.is_over()) return {};
    if (!wait_for_look(signals, plan.interval_ns, [&] { return monitor.has_news(); })) {
      (void)monitor.cycle();  // the last word
      return {};
    }
  }
}

int run_monitor(Context& context, const MonitorOptions& options) {
  const Result<MonitorPlan> plan = resolve(options);
  if (!plan.ok()) return context.fail("monitor", plan.status());
  if (plan->asks_status) return show_monitor_status(context, plan->job);
  keep_quiet();
  mallopt(M_MMAP_THRESHOLD, kLargeBufferBytes);
  SignalQueue signals;
  if (plan->control_fd >= 0) return run_controlled_monitor(context, *plan, options, signals);
  Result<std::unique_ptr<monitor::FollowedJob>> job = find_job(context, *plan, signals);
  if (!job.ok()) return context.fail("monitor", job.status());
  if (*job == nullptr) return kDone;
  auto pipes = open_sinks(context, *plan, **job);
  if (!pipes.ok()) return context.fail("monitor", pipes.status());
  monitor::Monitor monitor(**job, std::move(pipes).value(), monitor_options(context, *plan, options, **job),
                           system_clock());
  const Status watched = watch(context, *plan, monitor, signals);
  const bool all_sent = monitor.finish(plan->flush_timeout_ns);
  if (!watched.ok()) return context.fail("monitor", watched);
  tell_failures(context, "monitor", monitor);
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
              "goodput monitor llama-7b --otlp http://collector:4318 --follow\n"
              "goodput monitor llama-7b --tensorboard runs/llama-7b --once\n"
              "goodput monitor llama-7b --status",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<MonitorOptions>();
            add_monitor_options(app, *options);
            return [options](Context& context) { return run_monitor(context, *options); };
          }};
}

}  // namespace goodput::cli
