// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_sinks.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "exporters/cloud_monitoring/cloud_monitoring_exporter.h"
#include "exporters/prometheus/scrape_server.h"
#include "exporters/tensorboard/tensorboard_exporter.h"

namespace goodput::cli {
namespace {

using exporters::CounterSample;
using exporters::Exposition;
using exporters::Pipe;
using exporters::PipeCounters;

/// An exporter's name, and how it does.
using Watched = std::pair<std::string, std::function<PipeCounters()>>;

/// How each exporter does, as families of /metrics.
std::string own_metrics(const std::vector<Watched>& exporters, Exposition form) {
  struct Family {
    const char* name;
    const char* help;
    uint64_t PipeCounters::*counter;
  };
  constexpr Family kFamilies[] = {
      {"goodput_exporter_updates_total", "Updates that the monitor gave to an exporter.", &PipeCounters::offered},
      {"goodput_exporter_sent_total", "Updates that reached their sink; several that waited count as one.",
       &PipeCounters::sent},
      {"goodput_exporter_failures_total", "Attempts to send that failed.", &PipeCounters::failed},
      {"goodput_exporter_given_up_total", "Updates that their sink refused.", &PipeCounters::given_up},
      {"goodput_exporter_dropped_steps_total", "Steps that were dropped because too many waited.",
       &PipeCounters::dropped_steps},
  };
  std::string out;
  for (const Family& family : kFamilies) {
    std::vector<CounterSample> samples;
    for (const auto& [name, counters] : exporters) {
      samples.push_back({"exporter", name, static_cast<double>(counters().*family.counter)});
    }
    out += exporters::expose_counter(family.name, family.help, samples, form);
  }
  return out;
}

/// What programs that watch ml-goodput-measurement look for on standard error.
std::function<void(size_t)> tell_sent(const Context& context) {
  if (context.globals.quiet) return {};
  return [err = context.err](size_t series) {
    fmt::print(err, "{{'message': 'Sent Goodput metrics to GCM Monitoring.', 'metrics_count': {}}}\n", series);
  };
}

Result<std::unique_ptr<exporters::CloudMonitoringExporter>> open_cloud_monitoring(const Context& context,
                                                                                  const MonitorPlan& plan) {
  exporters::CloudMonitoringOptions options{.project = plan.cloud.project == "auto" ? "" : plan.cloud.project,
                                            .location = plan.cloud.location,
                                            .cluster = plan.cloud.cluster,
                                            .replica = plan.cloud.replica,
                                            .accelerator_type = plan.cloud.accelerator,
                                            .on_sent = tell_sent(context)};
  if (!plan.cloud.metric_prefix.empty()) options.metric_prefix = plan.cloud.metric_prefix;
  return exporters::CloudMonitoringExporter::open(std::move(options));
}

}  // namespace

Result<std::vector<std::unique_ptr<Pipe>>> open_sinks(Context& context, const MonitorPlan& plan) {
  std::vector<std::unique_ptr<Pipe>> pipes;
  if (!plan.tensorboard.empty()) {
    ASSIGN_OR_RETURN(auto board, exporters::TensorBoardExporter::open(plan.tensorboard, "goodput monitor " + plan.job));
    pipes.push_back(std::make_unique<Pipe>(std::move(board), exporters::PipeOptions{}));
  }
  if (!plan.cloud.project.empty()) {
    auto monitoring = open_cloud_monitoring(context, plan);
    if (monitoring.ok()) {
      pipes.push_back(std::make_unique<Pipe>(std::move(monitoring).value(), exporters::PipeOptions{}));
    } else if (plan.control_fd >= 0 && plan.cloud.project == "auto") {
      // Training processes ask for it wherever they are, as ml-goodput-measurement does by itself.
      context.note("goodput monitor: going on without: " + monitoring.status().message());
    } else {
      return monitoring.status();
    }
  }
  if (!plan.prometheus.empty()) {
    std::vector<Watched> others;
    for (const auto& pipe : pipes) others.emplace_back(pipe->name(), pipe->counters_reader());
    ASSIGN_OR_RETURN(auto server,
                     exporters::ScrapeServer::listen(plan.prometheus, [others = std::move(others)](Exposition form) {
                       return own_metrics(others, form);
                     }));
    const std::string host = plan.prometheus.substr(0, plan.prometheus.rfind(':') + 1);
    context.note(fmt::format("goodput monitor: serving http://{}{}/metrics",
                             host.size() > 1 ? host : "localhost:", server->port()));
    pipes.push_back(std::make_unique<Pipe>(std::move(server), exporters::PipeOptions{}));
  }
  return pipes;
}

}  // namespace goodput::cli
