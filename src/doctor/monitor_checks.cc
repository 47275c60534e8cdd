// Whether somebody exports the job's figures, and gets them through.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "doctor/checks.h"
#include "report/terminal/human.h"

namespace goodput::doctor {
namespace {

using monitor::MonitorHealth;

bool is_over(const report::Report& report) {
  return report.status == report::JobStatus::kCompleted || report.status == report::JobStatus::kFailed;
}

/// A sink that takes nothing: its name, and what it last said.
std::string failing_sink(const monitor::MonitorStatus& status) {
  for (const monitor::SinkStatus& sink : status.sinks) {
    if (!sink.counters.last_failure.empty()) return sink.name + ": " + sink.counters.last_failure;
  }
  return {};
}

}  // namespace

Opinion check_exports(const Facts& facts) {
  const JobFacts& job = *facts.job;
  if (job.monitors.empty()) {
    const std::string seen = "No monitor was started for this job: nothing but reports shows its figures.";
    if (!facts.google.has_value()) return {.seen = seen};
    return {
        Verdict::kYellow, seen,
        "Start `goodput monitor`. A script that should start one has monitoring_enabled=False, logging_enabled=False "
        "or enable_goodput_recording switched off."};
  }
  std::vector<std::string> sinks;
  for (const MonitorFacts& each : job.monitors) {
    for (const monitor::SinkStatus& sink : each.status.sinks) {
      if (std::find(sinks.begin(), sinks.end(), sink.name) == sinks.end()) sinks.push_back(sink.name);
    }
  }
  if (sinks.empty()) {
    return {Verdict::kYellow, "A monitor was started, and exports nowhere.",
            "Give it --tensorboard, --prometheus or another; in the drop-in "
            "enable_gcp_goodput_metrics=False switches Cloud Monitoring off."};
  }
  return {.seen = fmt::format("To {}.", fmt::join(sinks, ", "))};
}

Opinion check_monitor(const Facts& facts) {
  const JobFacts& job = *facts.job;
  for (const MonitorFacts& each : job.monitors) {
    if (each.health == MonitorHealth::kStale && !is_over(job.report)) {
      return {Verdict::kRed,
              fmt::format("The monitor on {} (process {}) looked last {}: what it exports is old.", each.status.host,
                          each.status.pid, report::human_ago(each.status.updated_ns, facts.now_ns)),
              "Start it again: it goes on where it stopped."};
    }
    if (each.health == MonitorHealth::kRunning && !each.status.failure.empty()) {
      return {Verdict::kYellow,
              fmt::format("The monitor on {} finds nothing out: {}.", each.status.host, each.status.failure),
              "See that it reads the folder that the job is recorded in."};
    }
    const std::string failing = failing_sink(each.status);
    if (each.health != MonitorHealth::kEnded && !failing.empty()) {
      return {Verdict::kYellow, fmt::format("An exporter fails: {}.", failing),
              "`goodput monitor JOB --status` has all of them; what waits is sent once they take it again."};
    }
  }
  if (job.monitors.empty()) return {.seen = "There is none."};
  return {.seen = fmt::format(
              "{} of {} running, none of them behind.",
              std::count_if(job.monitors.begin(), job.monitors.end(),
                            [](const MonitorFacts& each) { return each.health == MonitorHealth::kRunning; }),
              job.monitors.size())};
}

}  // namespace goodput::doctor
