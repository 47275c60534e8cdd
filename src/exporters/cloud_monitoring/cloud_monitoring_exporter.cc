// SPDX-License-Identifier: Apache-2.0
#include "exporters/cloud_monitoring/cloud_monitoring_exporter.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/web_text.h"
#include "gcp/accelerators.h"
#include "gcp/endpoints.h"
#include "gcp/metadata.h"

namespace goodput::exporters {
namespace {

constexpr size_t kMostSeries = 200;             // a call; the service refuses more
constexpr int64_t kTimeoutNs = 12'000'000'000;  // of a call, as Google's own client has it

/// Somebody may have made its descriptor, or its label, by then.
constexpr int64_t kLeftOutNs = 3'600'000'000'000;

std::string key_of(const WorkloadSeries& series) {
  std::string key = series.name;
  for (const auto& [name, value] : series.labels) key += '\n' + name + '=' + value;
  return key;
}

std::string repaired(std::string_view text) {
  std::string out;
  append_repaired(out, text);
  return out;
}

Status no_project() {
  return {StatusCode::kInvalidArgument,
          "writing to Cloud Monitoring: no project is known; GOOGLE_CLOUD_PROJECT names one"};
}

}  // namespace

Result<std::unique_ptr<CloudMonitoringExporter>> CloudMonitoringExporter::open(CloudMonitoringOptions options) {
  const gcp::Endpoint endpoint = gcp::monitoring_endpoint(options.environment);
  auto is_cancelled = std::make_unique<std::atomic<bool>>(false);
  ASSIGN_OR_RETURN(
      std::shared_ptr<gcp::Credentials> credentials,
      gcp::credentials_for(endpoint, {.environment = options.environment, .is_cancelled = is_cancelled.get()}));
  if (options.project.empty()) options.project = gcp::named_project(options.environment, credentials->project());
  if (options.project.empty() && gcp::has_no_metadata(options.environment)) return no_project();
  return std::unique_ptr<CloudMonitoringExporter>(
      new CloudMonitoringExporter(std::move(options), endpoint.url, std::move(is_cancelled), std::move(credentials)));
}

CloudMonitoringExporter::CloudMonitoringExporter(CloudMonitoringOptions options, std::string endpoint_url,
                                                 CancelFlag is_cancelled, std::shared_ptr<gcp::Credentials> credentials)
    : options_(std::move(options)),
      endpoint_url_(std::move(endpoint_url)),
      is_cancelled_(std::move(is_cancelled)),
      surroundings_(options_.environment, {.project = options_.project, .is_cancelled = is_cancelled_.get()}),
      client_(std::move(credentials), {.timeout_ns = kTimeoutNs, .is_cancelled = is_cancelled_.get()}) {}

/// What nobody has named is asked of the machine, until it has told.
Status CloudMonitoringExporter::find_surroundings() {
  if (knows_surroundings_) return {};
  gcp::CloudEnvironment here;
  if (options_.project.empty() || options_.location.empty() || options_.accelerator_type.empty() ||
      options_.cluster.empty()) {
    ASSIGN_OR_RETURN(here, surroundings_.read());
  }
  if (options_.project.empty()) options_.project = here.project;
  if (options_.project.empty()) {
    if (options_.may_go_without && !std::exchange(is_off_, true) && options_.tell) {
      options_.tell("going on without: " + no_project().message());
    }
    return no_project();
  }
  url_ = endpoint_url_ + "/v3/projects/" + percent_encoded(options_.project) + "/timeSeries";
  if (options_.location.empty()) options_.location = here.zone.empty() ? here.cluster_location : here.zone;
  if (options_.location.empty()) options_.location = "global";
  if (options_.cluster.empty()) options_.cluster = here.cluster;
  machine_accelerator_ = gcp::accelerator_label(here.machine_type, options_.environment);
  knows_surroundings_ = true;
  return {};
}

/// Those sets of which each has one writer; what is somebody else's is wanted no more.
Status CloudMonitoringExporter::claim(const report::Report& report, WorkloadSeriesOptions& wanted) {
  if (!options_.claim) return {};
  Status refusal;
  const auto claim_set = [&](bool& is_wanted, const char* which) {
    if (!is_wanted) return;
    const std::string set = std::string(which) + " series " + options_.metric_prefix + " of \"" + repaired(report.job) +
                            "\" in project " + options_.project + ", " + options_.location + ", replica " +
                            options_.replica;
    if (claimed_.contains(set)) return;
    Status claimed = options_.claim(set);
    is_wanted = claimed.ok();
    if (claimed.ok()) {
      claimed_.insert(set);
    } else {
      refusal = std::move(claimed);
    }
  };
  wanted.has_windows = wanted.has_windows && !report.windows.empty();
  claim_set(wanted.has_totals, "the cumulative");
  claim_set(wanted.has_windows, "the rolling");
  if (!refusal.ok() && std::exchange(told_, refusal.message()) != refusal.message() && options_.tell) {
    options_.tell(refusal.message());
  }
  return wanted.has_totals || wanted.has_windows ? Status() : refusal;
}

WorkloadSeriesOptions CloudMonitoringExporter::wanted_of(const Update& update) const {
  WorkloadSeriesOptions wanted = options_.series;
  wanted.cluster = options_.cluster;
  wanted.accelerator_type = options_.accelerator_type;
  if (wanted.accelerator_type.empty()) wanted.accelerator_type = update.report.accelerator_type;
  if (wanted.accelerator_type.empty()) wanted.accelerator_type = machine_accelerator_;
  wanted.has_totals = wanted.has_totals && update.figures.goodput;
  wanted.has_windows = wanted.has_windows && update.figures.windows;
  return wanted;
}

MonitoredResource CloudMonitoringExporter::resource_of(const report::Report& report) const {
  const std::string job = repaired(report.job);
  if (options_.metric_prefix.starts_with("compute.googleapis.com/")) {
    return {.type = "compute.googleapis.com/Workload",
            .labels = {{"location", options_.location}, {"workload_id", job}, {"replica_id", options_.replica}}};
  }
  // A project's own metrics are written to one of the few resources that are open to them.
  return {.type = "generic_task",
          .labels = {{"location", options_.location},
                     {"namespace", options_.cluster.empty() ? "goodput" : options_.cluster},
                     {"job", job},
                     {"task_id", options_.replica}}};
}

int64_t CloudMonitoringExporter::pause_ns() const {
  if (written_boot_ns_ == 0) return 0;
  return std::max<int64_t>(0, written_boot_ns_ + options_.write_period_ns - boot_time_ns());
}

Status CloudMonitoringExporter::send(const Update& update) {
  retry_after_ns_ = 0;
  if (!update.figures.goodput && !update.figures.windows) return {};
  RETURN_IF_ERROR(find_surroundings());
  const report::Report& report = update.report;
  WorkloadSeriesOptions wanted = wanted_of(update);
  RETURN_IF_ERROR(claim(report, wanted));
  const std::vector<WorkloadSeries> all = workload_series(report, wanted);
  const auto has_arrived = [&](const WorkloadSeries& series) {
    const auto found = written_as_of_.find(key_of(series));
    return found != written_as_of_.end() && found->second >= report.as_of_ns;
  };
  std::erase_if(left_out_until_boot_ns_, [now = boot_time_ns()](const auto& each) { return each.second <= now; });
  // Of an update that is tried again, what has arrived is not sent again.
  std::vector<WorkloadSeries> due = all;
  std::erase_if(due, [&](const WorkloadSeries& series) {
    return has_arrived(series) || left_out_until_boot_ns_.contains(key_of(series));
  });
  Status worst;
  Refused refused;
  for (size_t at = 0; at < due.size(); at += kMostSeries) {
    const auto batch = std::span(due).subspan(at, std::min(kMostSeries, due.size() - at));
    const Status status = send_batch(batch, report, refused);
    // What may be had later comes before what is given up: the pipe then calls again.
    if (!status.ok() && (worst.ok() || status.code() == StatusCode::kUnavailable)) worst = status;
  }
  const auto arrived = static_cast<size_t>(std::count_if(all.begin(), all.end(), has_arrived));
  if (arrived == 0 && worst.ok()) return refused.why;  // of no single series, then
  if (arrived > 0) leave_out(refused);
  if (worst.ok() && !due.empty() && options_.on_sent) options_.on_sent(arrived);
  return worst;
}

/// The sink is well, but not for these.
void CloudMonitoringExporter::leave_out(const Refused& refused) {
  if (refused.keys.empty()) return;
  const int64_t until_ns = boot_time_ns() + kLeftOutNs;
  for (const std::string& key : refused.keys) left_out_until_boot_ns_[key] = until_ns;
  rejected_ += refused.keys.size();
  rejection_ = "series left out for an hour: " + std::to_string(refused.keys.size()) + ", of " + refused.first + ": " +
               refused.why.message();
  if (options_.tell) options_.tell(rejection_);
}

Status CloudMonitoringExporter::send_batch(std::span<const WorkloadSeries> batch, const report::Report& report,
                                           Refused& refused) {
  const gcp::RestAnswer answer = client_.send(
      {.url = url_,
       .body = create_time_series_body(batch, options_.metric_prefix, resource_of(report), wall_time_ns())});
  if (!answer.error.has_value()) {
    written_boot_ns_ = boot_time_ns();
    for (const WorkloadSeries& series : batch) written_as_of_[key_of(series)] = report.as_of_ns;
    return {};
  }
  const gcp::ApiError& error = *answer.error;
  const Status whole = error.to_status("writing to Cloud Monitoring in project " + options_.project);
  retry_after_ns_ = std::max(retry_after_ns_, error.retry_delay_ns.value_or(0));
  if (const auto refusals = read_refusals(error, batch.size())) return note(*refusals, batch, report, whole, refused);
  // When the answer is missing or tells of the server's trouble, any of them may have been written.
  constexpr int kServerTrouble = 500;
  if (error.http_status == 0 || error.http_status >= kServerTrouble) written_boot_ns_ = boot_time_ns();
  return whole;
}

/// Of one call: which series arrived, which may arrive later, which never will.
Status CloudMonitoringExporter::note(std::span<const SeriesRefusal> refusals, std::span<const WorkloadSeries> batch,
                                     const report::Report& report, const Status& whole, Refused& refused) {
  written_boot_ns_ = boot_time_ns();
  std::vector<const SeriesRefusal*> of(batch.size(), nullptr);
  for (const SeriesRefusal& refusal : refusals) of[refusal.index] = &refusal;
  bool has_later = false;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (of[i] == nullptr) {
      written_as_of_[key_of(batch[i])] = report.as_of_ns;
    } else if (of[i]->may_pass_later) {
      has_later = true;
    } else {
      if (refused.keys.empty()) refused.first = batch[i].name;
      refused.keys.push_back(key_of(batch[i]));
      refused.why = Status(StatusCode::kInvalidArgument, whole.message());
    }
  }
  return has_later ? Status(StatusCode::kUnavailable, whole.message()) : Status();
}

}  // namespace goodput::exporters
