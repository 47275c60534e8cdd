// SPDX-License-Identifier: Apache-2.0
#include "exporters/remote_write/write_request.h"

#include <bit>
#include <map>

#include "base/utf8.h"
#include "exporters/proto/remote_write.pb.h"

namespace goodput::exporters {
namespace {

constexpr int kCounterType = 1, kGaugeType = 2;
constexpr int64_t kMillisecondNs = 1'000'000;
// The number by which Prometheus tells the end of a series from what was measured.
constexpr uint64_t kStaleNan = 0x7ff0000000000002;

using Labels = std::vector<std::pair<std::string, std::string>>;

void add_sample(remote_write::TimeSeries& series, double value, int64_t time_ns) {
  remote_write::Sample& sample = *series.add_samples();
  sample.set_value(value);
  sample.set_timestamp(time_ns / kMillisecondNs);
}

/// Sorted by name, each once and none empty, as receivers demand.
void set_labels(const std::string& name, const Labels& of_job, const Labels& of_sample,
                remote_write::TimeSeries& series) {
  std::map<std::string, std::string> sorted = {{"__name__", name}};
  for (const Labels* labels : {&of_job, &of_sample}) {
    for (const auto& [key, value] : *labels) append_repaired(sorted[key], value);
  }
  for (auto& [key, value] : sorted) {
    if (value.empty()) continue;
    remote_write::Label& label = *series.add_labels();
    label.set_name(key);
    label.set_value(std::move(value));
  }
}

/// What follows a family's name: "seconds".
std::string unit_of(const Family& family) { return family.name.ends_with("_seconds") ? "seconds" : ""; }

void add_family(const Family& family, const Labels& of_job, int64_t time_ns, remote_write::WriteRequest& request,
                std::set<std::string>& known) {
  const std::string name = family.name + (family.is_counter ? "_total" : "");
  for (const Sample& sample : family.samples) {
    remote_write::TimeSeries& series = *request.add_timeseries();
    set_labels(name, of_job, sample.labels, series);
    known.insert(series.SerializeAsString());
    add_sample(series, sample.value, time_ns);
  }
  remote_write::MetricMetadata& metadata = *request.add_metadata();
  metadata.set_type(family.is_counter ? kCounterType : kGaugeType);
  metadata.set_metric_family_name(name);
  metadata.set_help(family.help);
  metadata.set_unit(unit_of(family));
}

}  // namespace

std::set<std::string> add_series(const report::Report& report, const std::vector<Family>& own,
                                 remote_write::WriteRequest& request) {
  std::set<std::string> known;
  const Labels of_job = job_labels(report);
  for (const Family& family : metrics_of(report)) add_family(family, of_job, report.as_of_ns, request, known);
  for (const Family& family : own) add_family(family, {}, report.as_of_ns, request, known);
  return known;
}

void add_stale(const std::set<std::string>& series, int64_t time_ns, remote_write::WriteRequest& request) {
  for (const std::string& labels : series) {
    remote_write::TimeSeries& ended = *request.add_timeseries();
    if (ended.ParseFromString(labels)) add_sample(ended, std::bit_cast<double>(kStaleNan), time_ns);
  }
}

}  // namespace goodput::exporters
