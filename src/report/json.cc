// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/time_text.h"
#include "report/words.h"

namespace goodput::report {
namespace {

using Json = nlohmann::ordered_json;

double round_to_decimals(double value, double scale) { return std::round(value * scale) / scale; }

// Nine decimals, fewer from ten days on: fifteen digits are what a double carries without noise. Six are always left.
double seconds(double value) {
  constexpr double kFifteenDigits = 9e14;
  double scale = 1e9;
  while (scale > 1e6 && std::fabs(value) * scale > kFifteenDigits) scale /= 10;
  return round_to_decimals(value, scale);
}

double percent_value(double value) { return round_to_decimals(value, 1e6); }

double twelve_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return std::strtod(text, nullptr);
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <typename Round>
Json or_null(const std::optional<double>& value, Round round) {
  return value ? Json(round(*value)) : Json(nullptr);
}
Json time_or_null(const std::optional<int64_t>& time_ns) {
  return time_ns ? Json(format_time(*time_ns)) : Json(nullptr);
}

template <typename Round>
Json by_name(const SecondsByName& values, Round round) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = round(value);
  return object;
}
Json seconds_by_name(const SecondsByName& values) { return by_name(values, seconds); }

Json attempt_json(const Attempt& attempt) {
  return {{"index", attempt.index},
          {"id", attempt.id},
          {"host", attempt.host},
          {"start", format_time(attempt.start_ns)},
          {"end", format_time(attempt.end_ns)},
          {"status", to_word(attempt.status)},
          {"exit_code", or_null(attempt.exit_code)},
          {"exit_signal", or_null(attempt.exit_signal)},
          {"first_step", or_null(attempt.first_step)},
          {"last_step", or_null(attempt.last_step)},
          {"elapsed_seconds", seconds(attempt.elapsed_seconds)},
          {"goodput_seconds", seconds(attempt.goodput_seconds)},
          {"badput_seconds", seconds_by_name(attempt.badput_seconds)}};
}

Json disruption_json(const Disruption& disruption) {
  return {{"index", disruption.index},
          {"kind", to_word(disruption.kind)},
          {"time", format_time(disruption.time_ns)},
          {"attempt", disruption.attempt},
          {"planned", disruption.planned},
          {"cause", disruption.cause},
          {"cause_source", disruption.cause_source},
          {"detail", disruption.detail},
          {"completed_end", disruption.completed_end},
          {"last_step", or_null(disruption.last_step)},
          {"resume_step", or_null(disruption.resume_step)},
          {"steps_wasted", disruption.steps_wasted},
          {"wasted_seconds", seconds(disruption.wasted_seconds)},
          {"stalled_seconds", seconds(disruption.stalled_seconds)},
          {"recovery_seconds", or_null(disruption.recovery_seconds, seconds)},
          {"recovery_by_class_seconds", seconds_by_name(disruption.recovery_by_class_seconds)}};
}

Json window_json(const Window& window) {
  return {{"window_seconds", seconds(window.window_seconds)},
          {"start", format_time(window.start_ns)},
          {"end", format_time(window.end_ns)},
          {"elapsed_seconds", seconds(window.elapsed_seconds)},
          {"goodput_seconds", seconds(window.goodput_seconds)},
          {"goodput_percent", or_null(window.goodput_percent, percent_value)},
          {"badput_seconds", seconds_by_name(window.badput_seconds)},
          {"custom_badput_seconds", seconds_by_name(window.custom_badput_seconds)},
          {"disruptions", window.disruptions}};
}

Json rank_json(const Rank& rank) {
  return {
      {"process_index", rank.process_index},
      {"host", rank.host},
      {"last_heartbeat", time_or_null(rank.last_heartbeat_ns)},
      {"lateness_seconds",
       {{"p90", or_null(rank.lateness_p90_seconds, seconds)}, {"p99", or_null(rank.lateness_p99_seconds, seconds)}}}};
}

Json finding_json(const Finding& finding) {
  return {{"kind", finding.kind},
          {"severity", to_word(finding.severity)},
          {"count", finding.count},
          {"seconds", or_null(finding.seconds, seconds)},
          {"first", time_or_null(finding.first_ns)},
          {"message", finding.message},
          {"fix", finding.fix}};
}

// Column-wise: a bucket per place in each class's array, so that 200 buckets stay small.
Json timeline_json(const Timeline& timeline) {
  if (timeline.buckets.empty()) return nullptr;
  Json classes = Json::object();
  for (size_t i = 0; i < timeline.buckets.size(); ++i) {
    for (const auto& [name, value] : timeline.buckets[i]) {
      if (!classes.contains(name)) classes[name] = std::vector<double>(timeline.buckets.size());
      classes[name][i] = seconds(value);
    }
  }
  return {{"start", format_time(timeline.start_ns)},
          {"end", format_time(timeline.end_ns)},
          {"buckets", timeline.buckets.size()},
          {"seconds", std::move(classes)}};
}

Json percentiles_json(const std::optional<StepTimePercentiles>& percentiles) {
  if (!percentiles) return nullptr;
  return {{"p50", seconds(percentiles->p50)},
          {"p90", seconds(percentiles->p90)},
          {"p99", seconds(percentiles->p99)},
          {"max", seconds(percentiles->max)}};
}

Json slices_json(const std::optional<SliceEfficiency>& slices) {
  if (!slices) return nullptr;
  return {{"stepping", twelve_digits(slices->stepping)}, {"available", twelve_digits(slices->available)}};
}

Json interval_json(const std::optional<std::pair<double, double>>& interval) {
  return interval ? Json{seconds(interval->first), seconds(interval->second)} : Json(nullptr);
}

template <typename T, typename Write>
Json list_of(const std::vector<T>& items, Write write) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(write(item));
  return list;
}

void add_identity(Json& object, const Report& report) {
  object["job"] = report.job;
  object["run_id"] = report.run_id;
}

void add_totals(Json& object, const Report& report) {
  object["elapsed_seconds"] = seconds(report.elapsed_seconds);
  object["goodput_seconds"] = seconds(report.goodput_seconds);
  object["goodput_percent"] = or_null(report.goodput_percent, percent_value);
  object["badput_seconds"] = seconds_by_name(report.badput_seconds);
  object["custom_badput_seconds"] = seconds_by_name(report.custom_badput_seconds);
  object["async_data_loading_seconds"] = seconds(report.async_data_loading_seconds);
  object["max_productive_step"] = report.max_productive_step;
  object["last_step"] = or_null(report.last_step);
  object["steps_per_second"] = or_null(report.steps_per_second, twelve_digits);
  object["ideal_step_time_seconds"] = or_null(report.ideal_step_time_seconds, seconds);
  object["step_time_deviation_seconds"] = or_null(report.step_time_deviation_seconds, seconds);
  object["ideal_goodput_percent"] = or_null(report.ideal_goodput_percent, percent_value);
  object["step_time_percentiles_seconds"] = percentiles_json(report.step_time_percentiles_seconds);
  object["slice_efficiency"] = slices_json(report.slice_efficiency);
  object["disruptions"] = report.disruptions;
  object["unplanned_disruptions"] = report.unplanned_disruptions;
  object["mtbf_seconds"] = or_null(report.mtbf_seconds, seconds);
  object["mtbf_interval_seconds"] = interval_json(report.mtbf_interval_seconds);
  object["mttr_seconds"] = or_null(report.mttr_seconds, seconds);
  object["accelerators"] = or_null(report.accelerators);
  object["accelerator_type"] = report.accelerator_type;
  object["accelerator_hours"] = report.accelerators ? by_name(report.accelerator_hours, twelve_digits) : Json(nullptr);
  object["cost"] = report.currency.empty() ? Json(nullptr) : by_name(report.cost, twelve_digits);
  object["currency"] = report.currency;
}

Json report_json(const Report& report) {
  Json object = {{"schema", kReportSchema}, {"semantics", kSemanticsVersion}};
  add_identity(object, report);
  object["labels"] = report.labels;
  object["status"] = to_word(report.status);
  object["provisional"] = report.provisional;
  object["clipped"] = report.clipped;
  object["start"] = format_time(report.start_ns);
  object["end"] = format_time(report.end_ns);
  object["as_of"] = format_time(report.as_of_ns);
  add_totals(object, report);
  object["attempts"] = list_of(report.attempts, attempt_json);
  object["disruption_records"] = list_of(report.disruption_records, disruption_json);
  object["omitted"] = {{"attempts", report.attempts_omitted},
                       {"disruption_records", report.disruption_records_omitted}};
  object["windows"] = list_of(report.windows, window_json);
  object["exclusions"] = list_of(report.exclusions, [](const std::pair<int64_t, int64_t>& exclusion) {
    return Json{{"start", format_time(exclusion.first)}, {"end", format_time(exclusion.second)}};
  });
  object["ranks"] = list_of(report.ranks, rank_json);
  object["first_stopped_rank"] = or_null(report.first_stopped_rank);
  object["data_quality"] = {{"findings", list_of(report.findings, finding_json)}};
  object["timeline"] = timeline_json(report.timeline);
  return object;
}

Json job_json(const JobSummary& job) {
  return {{"job", job.job},
          {"run_id", job.run_id},
          {"labels", job.labels},
          {"status", to_word(job.status)},
          {"provisional", job.provisional},
          {"start", format_time(job.start_ns)},
          {"end", format_time(job.end_ns)},
          {"elapsed_seconds", seconds(job.elapsed_seconds)},
          {"goodput_seconds", seconds(job.goodput_seconds)},
          {"goodput_percent", or_null(job.goodput_percent, percent_value)},
          {"attempts", job.attempts},
          {"disruptions", job.disruptions},
          {"last_step", or_null(job.last_step)},
          {"accelerators", or_null(job.accelerators)},
          {"accelerator_type", job.accelerator_type},
          {"cost", or_null(job.cost, twelve_digits)},
          {"currency", job.currency}};
}

std::string write(const Json& object, JsonForm form) {
  return object.dump(form == JsonForm::kIndented ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string list_to_json(const Report& report, std::string_view name, Json items, int64_t omitted, JsonForm form) {
  Json object = {{"schema", "goodput." + std::string(name) + "/1"}};
  add_identity(object, report);
  object[std::string(name)] = std::move(items);
  object["omitted"] = omitted;
  return write(object, form);
}

void flatten(const Json& value, const std::string& name, std::map<std::string, double>& numbers) {
  if (value.is_number()) {
    numbers[name] = value.get<double>();
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      flatten(member, name.empty() ? key : fmt::format("{}.{}", name, key), numbers);
    }
  }
}

}  // namespace

std::string to_json(const Report& report, JsonForm form) { return write(report_json(report), form); }

std::string attempts_to_json(const Report& report, JsonForm form) {
  return list_to_json(report, "attempts", list_of(report.attempts, attempt_json), report.attempts_omitted, form);
}

std::string disruptions_to_json(const Report& report, JsonForm form) {
  return list_to_json(report, "disruptions", list_of(report.disruption_records, disruption_json),
                      report.disruption_records_omitted, form);
}

std::string ranks_to_json(const Report& report, JsonForm form) {
  return list_to_json(report, "ranks", list_of(report.ranks, rank_json), 0, form);
}

std::string jobs_to_json(std::span<const JobSummary> jobs, JsonForm form) {
  Json list = Json::array();
  for (const JobSummary& job : jobs) list.push_back(job_json(job));
  return write({{"schema", "goodput.jobs/1"}, {"jobs", std::move(list)}, {"omitted", 0}}, form);
}

std::map<std::string, double> flat(const Report& report) {
  Json object = Json::object();
  add_totals(object, report);
  std::map<std::string, double> numbers;
  flatten(object, "", numbers);
  if (report.mtbf_interval_seconds) {
    numbers["mtbf_interval_seconds.low"] = seconds(report.mtbf_interval_seconds->first);
    numbers["mtbf_interval_seconds.high"] = seconds(report.mtbf_interval_seconds->second);
  }
  for (const Window& window : report.windows) {
    Json members = window_json(window);
    members.erase("window_seconds");
    flatten(members, fmt::format("windows.{}", window.window_seconds), numbers);
  }
  for (const Finding& finding : report.findings) {
    numbers["data_quality." + finding.kind + ".count"] += static_cast<double>(finding.count);
    if (finding.seconds) numbers["data_quality." + finding.kind + ".seconds"] += seconds(*finding.seconds);
  }
  if (report.first_stopped_rank) numbers["first_stopped_rank"] = static_cast<double>(*report.first_stopped_rank);
  return numbers;
}

}  // namespace goodput::report
