// A job's figures in Google Cloud Monitoring.
//
//   ASSIGN_OR_RETURN(auto exporter, CloudMonitoringExporter::open({.project = "my-project"}));
//   Status status = exporter->send(update);     // every series once, at most 200 a call
//   status = exporter->send(later);             // … and never sooner than the service takes them
//
// A series that the service did not take, though it took others, is sent again by itself, a write period later and with
// a new time; what it will never take is counted, told and left out for an hour. What options leave open is asked of
// the machine with the first update: its project, zone, accelerator and cluster; nothing is sent before it has told, or
// for a minute. Off Google Cloud that ends within a second. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "exporters/cloud_monitoring/create_time_series.h"
#include "exporters/cloud_monitoring/workload_series.h"
#include "exporters/exporter.h"
#include "gcp/cloud_surroundings.h"
#include "gcp/rest.h"

namespace goodput::exporters {

struct CloudMonitoringOptions {
  std::string project{};           ///< empty: the credentials', gcloud's or the machine's
  std::string location{};          ///< empty: the machine's zone, or "global"
  std::string cluster{};           ///< empty: the machine's, or none
  std::string replica = "0";       ///< two writers of one job need two
  std::string accelerator_type{};  ///< empty: the report's, or that of the machine's type
  WorkloadSeriesOptions series{};  ///< which; its labels are filled in here
  /// "custom.googleapis.com/goodput/" where the project may not write Google's types.
  std::string metric_prefix = "compute.googleapis.com/workload/";
  /// Between two points of a series: the service speaks of 5 s, of 10 s in older words.
  int64_t write_period_ns = 10'000'000'000;
  std::function<void(size_t)> on_sent{};                 ///< after each update: how many series arrived
  std::function<void(const std::string& words)> tell{};  ///< what somebody should know who watches
  /// Asked once for each set of series, before its first point; not ok: somebody else writes them.
  std::function<Status(const std::string& set)> claim{};
  bool may_go_without = false;  ///< where no project is known, nothing is sent and nothing has failed
  Environment environment = system_environment();
};

class CloudMonitoringExporter final : public Exporter {
 public:
  /// Fails where credentials are named that are not there or wrong, or nobody could name a project. Asks nobody.
  static Result<std::unique_ptr<CloudMonitoringExporter>> open(CloudMonitoringOptions options);

  [[nodiscard]] std::string name() const override {
    return "cloud-monitoring " + (options_.project.empty() ? "auto" : options_.project);
  }
  /// kUnavailable: some series are still to be sent, or the machine cannot tell yet where it is. kAlreadyExists:
  /// somebody else writes them. Others: they are given up.
  Status send(const Update& update) override;
  /// Until a write period has passed since the last point.
  [[nodiscard]] int64_t pause_ns() const override;
  [[nodiscard]] bool takes_steps() const override { return false; }
  [[nodiscard]] int64_t retry_after_ns() const override { return retry_after_ns_; }
  [[nodiscard]] uint64_t rejected() const override { return rejected_; }
  [[nodiscard]] std::string rejection() const override { return rejection_; }
  [[nodiscard]] bool is_off() const override { return is_off_; }
  void cancel() override { *is_cancelled_ = true; }

 private:
  using CancelFlag = std::unique_ptr<std::atomic<bool>>;

  CloudMonitoringExporter(CloudMonitoringOptions options, std::string endpoint_url, CancelFlag is_cancelled,
                          std::shared_ptr<gcp::Credentials> credentials);

  Status find_surroundings();
  Status claim(const report::Report& report, WorkloadSeriesOptions& wanted);
  [[nodiscard]] WorkloadSeriesOptions wanted_of(const Update& update) const;
  [[nodiscard]] MonitoredResource resource_of(const report::Report& report) const;
  /// Of one update, what the service will not take while it takes others.
  struct Refused {
    std::vector<std::string> keys;
    std::string first;  ///< the name of the first
    Status why;
  };
  Status send_batch(std::span<const WorkloadSeries> batch, const report::Report& report, Refused& refused);
  Status note(std::span<const SeriesRefusal> refusals, std::span<const WorkloadSeries> batch,
              const report::Report& report, const Status& whole, Refused& refused);
  void leave_out(const Refused& refused);

  CloudMonitoringOptions options_;
  std::string endpoint_url_;
  std::string url_;          // once the project is known
  CancelFlag is_cancelled_;  // before what looks at it
  gcp::CloudSurroundings surroundings_;
  gcp::RestClient client_;
  int64_t retry_after_ns_ = 0;
  bool knows_surroundings_ = false, is_off_ = false;
  std::string machine_accelerator_;
  int64_t written_boot_ns_ = 0;  // when points were written last, or may have been
  std::set<std::string> claimed_;
  std::string told_;  // of last, of a set that is somebody else's
  uint64_t rejected_ = 0;
  std::string rejection_;
  std::map<std::string, int64_t> left_out_until_boot_ns_;  // by the series' name and labels
  std::map<std::string, int64_t> written_as_of_;  // by the series' name and labels: the report that it told last
};

}  // namespace goodput::exporters
