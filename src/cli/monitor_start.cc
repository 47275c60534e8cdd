// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_start.h"

#include <fmt/format.h>
#include <goodput/recorder.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "cli/price_options.h"

namespace goodput::cli {
namespace {

/// Records what the trainer cannot: that it ended.
void record_death(monitor::FollowedJob& job, const std::string& directory, const std::string& attempt_id,
                  int64_t time_ns) {
  const journal::JobLog::JobFacts facts = job.log().job_facts();
  Recorder recorder = Recorder::open(
      {.job = facts.job, .run_id = facts.run_id, .role = "monitor", .attempt_id = attempt_id, .directory = directory});
  recorder.process_exit({}, time_ns);
}

monitor::MonitorStatus about(const Context& context, const MonitorPlan& plan, const MonitorOptions& options) {
  monitor::MonitorStatus status;
  const monitor::Place here = monitor::this_place();
  status.host = here.host;
  status.boot_id = here.boot_id;
  status.pid_namespace = here.pid_namespace;
  status.pid = getpid();
  status.version = GOODPUT_VERSION;
  status.started_ns = context.now_ns;
  status.interval_ns = plan.interval_ns;
  status.options = in_effect(options);
  return status;
}

}  // namespace

void close_all_but(int kept_fd) {
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  const unsigned kept = kept_fd < 0 ? kFirst - 1 : static_cast<unsigned>(kept_fd);
  if (kept > kFirst) close_range(kFirst, kept - 1, 0);
  close_range(std::max(kept, kFirst - 1) + 1, ~0U, 0);
}

void keep_quiet() { setenv("GOODPUT_QUIET", "1", 1); }

monitor::MonitorOptions monitor_options(const Context& context, const MonitorPlan& plan, const MonitorOptions& options,
                                        monitor::FollowedJob& job) {
  return {
      .windows_ns = plan.windows_ns,
      .linger_ns = plan.linger_ns,
      .follows = plan.follows,
      .price = [&context, &plan](std::string_view type) { return price_for(plan.price, context.config, type); },
      .about = about(context, plan, options),
      .on_death = [&context, &job](const std::string& attempt_id,
                                   int64_t time_ns) { record_death(job, context.globals.dir, attempt_id, time_ns); }};
}

void tell_failures(Context& context, std::string_view command, const monitor::Monitor& monitor) {
  for (const auto& pipe : monitor.pipes()) {
    const exporters::PipeCounters counters = pipe->counters();
    for (const std::string* what : {&counters.last_failure, &counters.last_rejection}) {
      if (!what->empty()) context.note(fmt::format("goodput {}: {}: {}", command, pipe->name(), *what));
    }
  }
}

bool is_end(const std::optional<Signal>& signal) {
  return signal.has_value() && (signal->number == SIGTERM || signal->number == SIGINT || signal->number == SIGHUP ||
                                signal->number == SIGQUIT);
}

bool wait_for_look(SignalQueue& signals, int64_t interval_ns, FunctionRef<bool()> has_news) {
  const int64_t next_ns = boot_time_ns() + interval_ns;
  for (int64_t left_ns = interval_ns; left_ns > 0 && !has_news(); left_ns = next_ns - boot_time_ns()) {
    if (is_end(signals.next(std::min(left_ns, kLookForNewsNs)))) return false;
  }
  return true;
}

}  // namespace goodput::cli
