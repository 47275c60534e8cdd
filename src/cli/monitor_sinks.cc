// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_sinks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/host_name.h"
#include "cli/follow_job.h"
#include "cli/terminal_style.h"
#include "exporters/cloud_monitoring/cloud_monitoring_exporter.h"
#include "exporters/memory.h"
#include "exporters/otlp/otlp_exporter.h"
#include "exporters/pipe/pipe_metrics.h"
#include "exporters/prometheus/scrape_server.h"
#include "exporters/remote_write/remote_write_exporter.h"
#include "exporters/tensorboard/tensorboard_exporter.h"
#include "monitor/bucket_shipping.h"
#include "monitor/shipping_exporter.h"
#include "monitor/sink_lock.h"
#include "monitor/sink_memory.h"
#include "report/terminal/text.h"
#include "store/cloud_logging/log_project.h"

namespace goodput::cli {
namespace {

using exporters::Exposition;
using exporters::Family;
using exporters::Memory;
using exporters::Pipe;
using exporters::WatchedPipe;
using monitor::SinkMemory;

/// Opens sinks one after the other, and lets those that carry metrics tell how all of them do.
class Sinks {
 public:
  Sinks(Context& context, const MonitorPlan& plan, monitor::FollowedJob& job)
      : context_(&context), plan_(&plan), job_(&job), owner_("goodput monitor " + plan.job) {
    const journal::JobLog::JobFacts facts = job.log().job_facts();
    labels_ = exporters::job_labels(facts.job, facts.run_id);
  }

  Status open_tensorboard();
  Status open_remote_write();
  Status open_otlp();
  Status open_cloud_monitoring();
  Status open_shipping();
  Status open_journal_shipping();
  Status open_prometheus();

  std::vector<std::unique_ptr<Pipe>> take() { return std::move(pipes_); }

 private:
  using Lock = std::shared_ptr<File>;

  void add(std::unique_ptr<exporters::Exporter> exporter, Lock held = {}) {
    pipes_.push_back(std::make_unique<Pipe>(std::move(exporter), exporters::PipeOptions{}, std::move(held)));
    watched_->push_back({.name = pipes_.back()->name(), .counters = pipes_.back()->counters_reader()});
  }
  [[nodiscard]] Status check_is_recorded_here() const {
    if (!job_->is_fed()) return {};
    return {StatusCode::kInvalidArgument, "--ship: what is read from a store has been shipped already"};
  }
  /// For exporters that are asked to send only once all are open.
  [[nodiscard]] std::function<std::vector<Family>()> own_families() const {
    return [watched = watched_, labels = labels_] { return exporters::families_of(*watched, labels); };
  }
  [[nodiscard]] std::string owner() const {
    return fmt::format("{} (process {} on {})", owner_, getpid(), host_name());
  }
  /// One monitor a sink.
  Result<Lock> lock(const std::string& sink) {
    ASSIGN_OR_RETURN(std::unique_ptr<File> held, monitor::lock_sink(job_->log(), sink, owner()));
    return Lock(std::move(held));
  }

  Context* context_;
  const MonitorPlan* plan_;
  monitor::FollowedJob* job_;
  std::string owner_;
  exporters::JobLabels labels_;
  std::vector<std::unique_ptr<Pipe>> pipes_;
  std::shared_ptr<std::vector<WatchedPipe>> watched_ = std::make_shared<std::vector<WatchedPipe>>();
};

Status Sinks::open_tensorboard() {
  if (plan_->tensorboard.empty()) return {};
  const bool is_in_bucket = plan_->tensorboard.starts_with(gcp::kBucketScheme);
  auto board = exporters::TensorBoardExporter::open(plan_->tensorboard, owner_);
  if (!board.ok() && is_in_bucket && plan_->control_fd >= 0) {
    // Of a training process that has no credentials here: it is told its figures all the same.
    context_->note("goodput monitor: going on without: " + board.status().message());
    return {};
  }
  if (!board.ok()) return board.status();
  Lock held;
  if (is_in_bucket) {  // a folder on a disk guards itself
    ASSIGN_OR_RETURN(held, lock((*board)->name()));
  }
  add(std::move(board).value(), std::move(held));
  return {};
}

Status Sinks::open_remote_write() {
  if (plan_->remote_write.empty()) return {};
  constexpr const char* kHeaders = "GOODPUT_REMOTE_WRITE_HEADERS";
  auto headers = exporters::parse_pairs(system_environment()(kHeaders).value_or(""));
  if (!headers.ok()) return {headers.status().code(), fmt::format("{}: {}", kHeaders, headers.status().message())};
  ASSIGN_OR_RETURN(Lock held, lock("remote_write " + plan_->remote_write));
  exporters::RemoteWriteOptions options{.url = plan_->remote_write, .headers = std::move(headers).value()};
  add(std::make_unique<exporters::RemoteWriteExporter>(std::move(options), own_families()), std::move(held));
  return {};
}

Status Sinks::open_otlp() {
  if (plan_->otlp.empty()) return {};
  ASSIGN_OR_RETURN(exporters::OtlpSettings settings, exporters::otlp_settings(plan_->otlp, system_environment()));
  if (settings.is_disabled) {
    context_->note("goodput monitor: OTEL_SDK_DISABLED is set: nothing is sent by OTLP");
    return {};
  }
  const std::string sink = "otlp " + (settings.logs.url.empty() ? settings.metrics.url : settings.logs.url);
  ASSIGN_OR_RETURN(Lock held, lock(sink));
  const std::shared_ptr<SinkMemory> memory = SinkMemory::open(job_->log(), sink);
  Memory told;
  if (memory != nullptr) {
    told = {.recall = [memory] { return memory->recall(); },
            .keep = [memory](std::string_view bytes) { return memory->keep(bytes); }};
  }
  add(std::make_unique<exporters::OtlpExporter>(std::move(settings), own_families(), std::move(told)), std::move(held));
  return {};
}

/// The last, since it may be asked at once.
Status Sinks::open_prometheus() {
  if (plan_->prometheus.empty()) return {};
  const auto of_others = [others = *watched_, labels = labels_](Exposition form) {
    return exporters::expose_families(exporters::families_of(others, labels), form);
  };
  ASSIGN_OR_RETURN(auto server, exporters::ScrapeServer::listen(plan_->prometheus, of_others));
  const std::string host = plan_->prometheus.substr(0, plan_->prometheus.rfind(':') + 1);
  context_->note(fmt::format("goodput monitor: serving http://{}{}/metrics",
                             host.size() > 1 ? host : "localhost:", server->port()));
  add(std::move(server));
  return {};
}

/// What programs that watch ml-goodput-measurement look for on standard error.
std::function<void(size_t)> tell_sent(const Context& context) {
  if (context.globals.quiet) return {};
  return [err = context.err](size_t series) {
    fmt::print(err, "{{'message': 'Sent Goodput metrics to GCM Monitoring.', 'metrics_count': {}}}\n", series);
  };
}

/// What an exporter's thread has to say; it may outlive the context.
std::function<void(const std::string&)> tell_words(const Context& context) {
  if (context.globals.quiet) return {};
  return [err = context.err](const std::string& words) {
    fmt::print(err, "goodput: goodput monitor: {}\n", report::printable(words, locale_is_utf8()));
  };
}

Status Sinks::open_cloud_monitoring() {
  const CloudOptions& cloud = plan_->cloud;
  if (cloud.project.empty()) return {};
  exporters::CloudMonitoringOptions options{.project = cloud.project == "auto" ? "" : cloud.project,
                                            .location = cloud.location,
                                            .cluster = cloud.cluster,
                                            .replica = cloud.replica,
                                            .accelerator_type = cloud.accelerator,
                                            .write_period_ns = plan_->cloud_write_period_ns};
  if (!cloud.metric_prefix.empty()) options.metric_prefix = cloud.metric_prefix;
  options.claim = [locks = monitor::SinkLocks::open(job_->log(), owner())](const std::string& set) {
    return locks->take(set);
  };
  // Training processes ask for it wherever they are, as ml-goodput-measurement does by itself.
  const bool may_go_without = options.may_go_without = plan_->control_fd >= 0 && cloud.project == "auto";
  options.tell = tell_words(*context_);
  options.on_sent = tell_sent(*context_);
  auto monitoring = exporters::CloudMonitoringExporter::open(std::move(options));
  if (monitoring.ok()) {
    add(std::move(monitoring).value());
    return {};
  }
  if (!may_go_without) return monitoring.status();
  context_->note("goodput monitor: going on without: " + monitoring.status().message());
  return {};
}

Status Sinks::open_shipping() {
  if (!plan_->ship.has_value()) return {};
  RETURN_IF_ERROR(check_is_recorded_here());
  ASSIGN_OR_RETURN(const store::LogAddress address, store::with_project(*plan_->ship));
  const journal::JobLog::JobFacts facts = job_->log().job_facts();
  ASSIGN_OR_RETURN(auto shipping, monitor::ShippingExporter::open({.address = address,
                                                                   .files = &posix_file_system(),
                                                                   .roots = roots_of(*context_),
                                                                   .run = {.job = facts.job, .run_id = facts.run_id}}));
  ASSIGN_OR_RETURN(Lock held, lock(shipping->name()));
  add(std::move(shipping), std::move(held));
  return {};
}

Status Sinks::open_journal_shipping() {
  if (!plan_->ship_journals.has_value()) return {};
  RETURN_IF_ERROR(check_is_recorded_here());
  const journal::JobLog::JobFacts facts = job_->log().job_facts();
  ASSIGN_OR_RETURN(auto shipping, monitor::BucketShipping::open({.address = *plan_->ship_journals,
                                                                 .files = &posix_file_system(),
                                                                 .roots = roots_of(*context_),
                                                                 .run = {.job = facts.job, .run_id = facts.run_id}}));
  ASSIGN_OR_RETURN(Lock held, lock(shipping->name()));
  add(std::move(shipping), std::move(held));
  return {};
}

}  // namespace

Result<std::vector<std::unique_ptr<Pipe>>> open_sinks(Context& context, const MonitorPlan& plan,
                                                      monitor::FollowedJob& job) {
  Sinks sinks(context, plan, job);
  RETURN_IF_ERROR(sinks.open_tensorboard());
  RETURN_IF_ERROR(sinks.open_remote_write());
  RETURN_IF_ERROR(sinks.open_otlp());
  RETURN_IF_ERROR(sinks.open_cloud_monitoring());
  RETURN_IF_ERROR(sinks.open_shipping());
  RETURN_IF_ERROR(sinks.open_journal_shipping());
  RETURN_IF_ERROR(sinks.open_prometheus());
  return sinks.take();
}

}  // namespace goodput::cli
