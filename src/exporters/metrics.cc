// SPDX-License-Identifier: Apache-2.0
#include "exporters/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "exporters/custom_events.h"
#include "report/words.h"

namespace goodput::exporters {
namespace {

using report::Report;
using Labels = JobLabels;

/// Families in the order in which they are added.
class Families {
 public:
  void begin(const char* name, const char* otlp_name, const char* unit, const char* help) {
    families_.push_back({name, otlp_name, unit, help, {}});
  }
  void add(double value, Labels labels = {}) { families_.back().samples.push_back({std::move(labels), value}); }
  void add(const std::optional<double>& value, Labels labels = {}) {
    if (value.has_value()) add(*value, std::move(labels));
  }
  std::vector<Family> take() {
    std::erase_if(families_, [](const Family& family) { return family.samples.empty(); });
    return std::move(families_);
  }

 private:
  std::vector<Family> families_;
};

std::optional<double> ratio(const std::optional<double>& percent) {
  return percent.has_value() ? std::optional<double>(*percent / 100) : std::nullopt;
}

std::optional<double> number(const std::optional<int64_t>& count) {
  return count.has_value() ? std::optional<double>(static_cast<double>(*count)) : std::nullopt;
}

void add_time(const Report& report, Families& out) {
  const CustomEvents custom(report.custom_badput_seconds);
  out.begin(
      "goodput_ratio", "ml.goodput.ratio", "1",
      "Share of the time that became preserved progress; of the whole job, and of rolling windows by their length.");
  out.add(ratio(report.goodput_percent));
  for (const report::Window& window : report.windows) {
    out.add(ratio(window.goodput_percent), {{"window", window_label(window.window_seconds)}});
  }
  out.begin("goodput_time_seconds", "ml.goodput.time", "s", "Time that became preserved progress.");
  out.add(report.goodput_seconds);
  out.begin("badput_time_seconds", "ml.badput.time", "s", "Time that did not, by where it went.");
  for (const auto& [source, seconds] : report.badput_seconds) out.add(seconds, {{"source", source}});
  for (const auto& [source, seconds] : custom.by_source(report.custom_badput_seconds)) {
    out.add(seconds, {{"source", source}});
  }
  out.begin("badput_ratio", "ml.badput.ratio", "1", "Share of a rolling window that did not, by where it went.");
  for (const report::Window& window : report.windows) {
    if (!(window.elapsed_seconds > 0)) continue;
    const std::string length = window_label(window.window_seconds);
    for (const auto& [source, seconds] : window.badput_seconds) {
      out.add(seconds / window.elapsed_seconds, {{"source", source}, {"window", length}});
    }
    for (const auto& [source, seconds] : custom.by_source(window.custom_badput_seconds)) {
      out.add(seconds / window.elapsed_seconds, {{"source", source}, {"window", length}});
    }
  }
  out.begin("elapsed_time_seconds", "ml.elapsed.time", "s", "Time from the job's start to its end, or to now.");
  out.add(report.elapsed_seconds);
  out.begin("async_data_loading_seconds", "ml.data_loading.async.time", "s",
            "Data loading that overlapped steps, and so cost nothing.");
  out.add(report.async_data_loading_seconds);
}

void add_steps(const Report& report, Families& out) {
  out.begin("max_productive_step", "ml.max_productive_step", "{step}", "Step up to which progress is preserved.");
  out.add(static_cast<double>(report.max_productive_step));
  out.begin("last_step", "ml.step.last", "{step}", "The step that began last.");
  out.add(number(report.last_step));
  out.begin("steps_per_second", "ml.step.rate", "{step}/s", "One by the typical step time.");
  out.add(report.steps_per_second);
  out.begin("ideal_step_time_seconds", "ml.step.time.ideal", "s", "Step time of a step that nothing disturbs.");
  out.add(report.ideal_step_time_seconds);
  out.begin("step_time_deviation_seconds", "ml.step.time.deviation", "s",
            "How far the latest steps are from the ideal step time.");
  out.add(report.step_time_deviation_seconds);
  // `quantile` would be a summary's label.
  out.begin("step_time_percentile_seconds", "ml.step.time.percentile", "s", "Percentiles of the job's step times.");
  if (const auto& steps = report.step_time_percentiles_seconds; steps.has_value()) {
    out.add(steps->p50, {{"percentile", "p50"}});
    out.add(steps->p90, {{"percentile", "p90"}});
    out.add(steps->p99, {{"percentile", "p99"}});
    out.add(steps->max, {{"percentile", "max"}});
  }
  out.begin("ideal_goodput_ratio", "ml.goodput.ideal.ratio", "1",
            "Share of the time that preserved steps would have taken at the ideal step time.");
  out.add(ratio(report.ideal_goodput_percent));
  out.begin("slice_efficiency_ratio", "ml.slice.efficiency", "1", "Share of the slices that stepped, or were there.");
  if (const auto& slices = report.slice_efficiency; slices.has_value()) {
    out.add(slices->stepping, {{"kind", "stepping"}});
    out.add(slices->available, {{"kind", "available"}});
  }
}

void add_disruptions(const Report& report, Families& out) {
  out.begin("disruptions", "ml.disruptions", "{disruption}", "Restarts and rollbacks of the job.");
  out.add(static_cast<double>(report.disruptions));
  for (const report::Window& window : report.windows) {
    out.add(static_cast<double>(window.disruptions), {{"window", window_label(window.window_seconds)}});
  }
  out.begin("unplanned_disruptions", "ml.disruptions.unplanned", "{disruption}", "Those that nobody had planned.");
  out.add(static_cast<double>(report.unplanned_disruptions));
  out.begin("mtbf_seconds", "ml.mtbf", "s", "Mean time between unplanned disruptions.");
  out.add(report.mtbf_seconds);
  out.begin("mttr_seconds", "ml.mttr", "s", "Mean time from a disruption to the first step after it.");
  out.add(report.mttr_seconds);
}

void add_cost(const Report& report, Families& out) {
  out.begin("accelerators", "ml.accelerators", "{accelerator}", "Accelerators that the job holds.");
  Labels of_type;
  if (!report.accelerator_type.empty()) of_type.emplace_back("accelerator_type", report.accelerator_type);
  out.add(number(report.accelerators), of_type);
  out.begin("accelerator_time_seconds", "ml.accelerator.time", "s", "Time of all accelerators, by where it went.");
  constexpr double kSecondsPerHour = 3600;
  for (const auto& [source, hours] : report.accelerator_hours) out.add(hours * kSecondsPerHour, {{"source", source}});
  out.begin("cost", "ml.cost", "{currency}", "What that time cost, by where it went.");
  for (const auto& [source, cost] : report.cost) out.add(cost, {{"source", source}, {"currency", report.currency}});
}

void add_state(const Report& report, Families& out) {
  out.begin("job_status", "ml.job.status", "1", "1 for the state that the job is in, 0 for the others.");
  for (const auto status : {report::JobStatus::kRunning, report::JobStatus::kStalled, report::JobStatus::kDown,
                            report::JobStatus::kFailed, report::JobStatus::kCompleted}) {
    out.add(status == report.status ? 1 : 0, {{"status", std::string(report::to_word(status))}});
  }
  out.begin("job_start_timestamp_seconds", "ml.job.start", "s", "When the job began, since the epoch.");
  out.add(static_cast<double>(report.start_ns) / 1e9);
  out.begin("report_timestamp_seconds", "ml.report.time", "s",
            "The moment that these figures are of, since the epoch.");
  out.add(static_cast<double>(report.as_of_ns) / 1e9);
  out.begin("data_quality_findings", "ml.data_quality.findings", "{finding}", "What is odd about the record, by kind.");
  // The record and its account may each find the same.
  std::map<std::string, int64_t> findings;
  for (const report::Finding& finding : report.findings) findings[finding.kind] += finding.count;
  for (const auto& [kind, count] : findings) out.add(static_cast<double>(count), {{"kind", kind}});
}

}  // namespace

std::vector<Family> metrics_of(const Report& report) {
  Families out;
  add_time(report, out);
  add_steps(report, out);
  add_disruptions(report, out);
  add_cost(report, out);
  add_state(report, out);
  return out.take();
}

JobLabels job_labels(const std::string& job, const std::string& run_id) {
  JobLabels labels = {{"job_name", job}};
  if (!run_id.empty()) labels.emplace_back("run_id", run_id);
  return labels;
}

JobLabels job_labels(const Report& report) { return job_labels(report.job, report.run_id); }

std::string window_label(double window_seconds) {
  const auto whole = static_cast<int64_t>(std::llround(window_seconds));
  if (static_cast<double>(whole) != window_seconds || whole <= 0) return fmt::format("{}s", window_seconds);
  if (whole % 3600 == 0) return fmt::format("{}h", whole / 3600);
  if (whole % 60 == 0) return fmt::format("{}m", whole / 60);
  return fmt::format("{}s", whole);
}

}  // namespace goodput::exporters
