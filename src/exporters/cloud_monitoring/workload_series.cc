// SPDX-License-Identifier: Apache-2.0
#include "exporters/cloud_monitoring/workload_series.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/utf8.h"
#include "exporters/custom_events.h"
#include "exporters/incumbent_names.h"

namespace goodput::exporters {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Of a label's value, in characters; four bytes at most make one.
constexpr size_t kMostLabelBytes = 1024;

std::string label_text(std::string_view text) {
  std::string out;
  append_repaired(out, text);
  if (out.size() <= kMostLabelBytes) return out;
  size_t end = kMostLabelBytes;
  while ((static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // a code point is not cut
  out.resize(end);
  return out;
}

/// Whether the job says anything of slices.
bool is_elastic(const report::Report& report) {
  if (report.slice_efficiency.has_value()) return true;
  for (const auto& [name, seconds] : report.badput_seconds) {
    if (name.starts_with("ELASTIC_") && seconds > 0) return true;
  }
  return false;
}

class Collector {
 public:
  Collector(const report::Report& report, const WorkloadSeriesOptions& options)
      : report_(report), options_(options), custom_(report.custom_badput_seconds), is_elastic_(is_elastic(report)) {}

  void add_totals();
  void add_window(const report::Window& window);
  std::vector<WorkloadSeries> take() { return std::move(out_); }

 private:
  /// `own` and the labels of all.
  void add(const char* name, std::variant<double, int64_t> value, Labels own) {
    if (const double* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number)) return;
    own.emplace_back("accelerator_type",
                     options_.accelerator_type.empty() ? "UNKNOWN" : label_text(options_.accelerator_type));
    if (!options_.cluster.empty()) own.emplace_back("cluster_name", label_text(options_.cluster));
    out_.push_back({.name = name, .labels = std::move(own), .value = value});
  }
  /// Its classes, zeros included; elastic ones of elastic jobs alone; custom events by name.
  void add_badput(const char* name, const report::SecondsByName& badput, const report::SecondsByName& custom,
                  double factor, const Labels& labels) {
    const std::map<std::string_view, double> seconds = incumbent_badput(badput);
    for (const std::string_view source : kIncumbentClasses) {
      const bool is_left_out = source == "DATA_LOADING_ASYNC" || (source.starts_with("ELASTIC_") && !is_elastic_);
      if (!is_left_out) add(name, seconds.at(source) * factor, with_source(std::string(source), labels));
    }
    // Names that a label does not tell apart are one series: the service refuses a call that has the same one twice.
    std::map<std::string, double> by_label;
    for (const auto& [event, spent] : custom_.by_source(custom)) by_label[label_text(event)] += spent;
    for (const auto& [event, spent] : by_label) add(name, spent * factor, with_source(event, labels));
  }
  static Labels with_source(std::string source, const Labels& labels) {
    Labels out = {{"badput_source", std::move(source)}};
    out.insert(out.end(), labels.begin(), labels.end());
    return out;
  }
  void add_slices(const std::optional<report::SliceEfficiency>& slices, const char* window_type,
                  const std::string& window_size) {
    if (!slices.has_value()) return;
    const Labels labels = {{"window_type", window_type}, {"rolling_window_size", window_size}};
    add("stepping_slice_efficiency", slices->stepping, labels);
    add("available_slice_efficiency", slices->available, labels);
  }

  const report::Report& report_;
  const WorkloadSeriesOptions& options_;
  CustomEvents custom_;
  bool is_elastic_;
  std::set<std::string> window_sizes_;  ///< that have their series
  std::vector<WorkloadSeries> out_;
};

void Collector::add_totals() {
  add("goodput_time", report_.goodput_seconds, {{"goodput_source", "TOTAL"}});
  add_badput("badput_time", report_.badput_seconds, report_.custom_badput_seconds, 1, {});
  add("disruptions", report_.disruptions, {{"window_type", "cumulative"}});
  add("max_productive_steps", report_.max_productive_step, {});
  if (options_.has_step_deviation && report_.step_time_deviation_seconds.has_value()) {
    add("step_time_deviation", *report_.step_time_deviation_seconds, {});
  }
  add("total_elapsed_time", report_.elapsed_seconds, {{"window_type", "cumulative"}});
  // Its descriptor knows no labels.
  if (const auto& ideal = report_.ideal_step_time_seconds; ideal.has_value() && std::isfinite(*ideal)) {
    out_.push_back({.name = "performance", .labels = {}, .value = *ideal});
  }
  add_slices(report_.slice_efficiency, "CUMULATIVE", "0");
}

void Collector::add_window(const report::Window& window) {
  if (!window.goodput_percent.has_value() || window.elapsed_seconds <= 0) return;
  const std::string size = std::to_string(std::llround(window.window_seconds));
  if (!window_sizes_.insert(size).second) return;
  add("interval_goodput", *window.goodput_percent, {{"goodput_source", "TOTAL"}, {"rolling_window_size", size}});
  add_badput("interval_badput", window.badput_seconds, window.custom_badput_seconds, 100 / window.elapsed_seconds,
             {{"rolling_window_size", size}});
  add_slices(window.slice_efficiency, "INTERVAL", size);
}

}  // namespace

std::vector<WorkloadSeries> workload_series(const report::Report& report, const WorkloadSeriesOptions& options) {
  Collector out(report, options);
  if (options.has_totals) out.add_totals();
  if (options.has_windows) {
    for (const report::Window& window : report.windows) out.add_window(window);
  }
  return out.take();
}

}  // namespace goodput::exporters
