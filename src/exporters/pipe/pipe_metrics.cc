// SPDX-License-Identifier: Apache-2.0
#include "exporters/pipe/pipe_metrics.h"

namespace goodput::exporters {
namespace {

struct Counter {
  const char *name, *otlp_name, *unit, *help;
  uint64_t PipeCounters::*value;
};

constexpr Counter kCounters[] = {
    {"goodput_exporter_updates", "goodput.exporter.updates", "{update}",
     "Updates that the monitor gave to an exporter.", &PipeCounters::offered},
    {"goodput_exporter_sent", "goodput.exporter.sent", "{update}",
     "Updates that reached their sink; several that waited count as one.", &PipeCounters::sent},
    {"goodput_exporter_failures", "goodput.exporter.failures", "{attempt}", "Attempts to send that failed.",
     &PipeCounters::failed},
    {"goodput_exporter_given_up", "goodput.exporter.given_up", "{update}", "Updates that their sink refused.",
     &PipeCounters::given_up},
    {"goodput_exporter_rejected", "goodput.exporter.rejected", "{record}",
     "Samples and records that a sink refused of updates that it took.", &PipeCounters::rejected},
    {"goodput_exporter_dropped_steps", "goodput.exporter.dropped_steps", "{step}",
     "Steps that were dropped because too many waited.", &PipeCounters::dropped_steps},
};

}  // namespace

std::vector<Family> families_of(std::span<const WatchedPipe> pipes, const JobLabels& of_job) {
  std::vector<Family> families;
  for (const Counter& counter : kCounters) {
    families.push_back({counter.name, counter.otlp_name, counter.unit, counter.help, {}, true});
  }
  Family last{"goodput_exporter_last_success_timestamp_seconds",
              "goodput.exporter.last_success",
              "s",
              "When an update last reached its sink, since the epoch.",
              {}};
  for (const WatchedPipe& pipe : pipes) {
    const PipeCounters counters = pipe.counters();
    JobLabels labels = of_job;
    labels.emplace_back("exporter", pipe.name);
    for (size_t i = 0; i < std::size(kCounters); ++i) {
      families[i].samples.push_back({labels, static_cast<double>(counters.*kCounters[i].value)});
    }
    if (counters.last_success_ns == 0) continue;
    last.samples.push_back({labels, static_cast<double>(counters.last_success_ns) / 1e9});
  }
  families.push_back(std::move(last));
  std::erase_if(families, [](const Family& family) { return family.samples.empty(); });
  return families;
}

}  // namespace goodput::exporters
