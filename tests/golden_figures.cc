// Flattening and comparing figures.
// SPDX-License-Identifier: Apache-2.0
#include "golden_figures.h"

#include <algorithm>
#include <cmath>

namespace goodput::golden {
namespace {

using reference::Rational;

double seconds(const Rational& ns) { return static_cast<double>(Rational(ns / reference::kSecond)); }

Figure figure(const std::optional<Rational>& ns) { return ns ? Figure{seconds(*ns), ""} : Figure{}; }
Figure count(std::optional<int64_t> value) { return value ? Figure{static_cast<double>(*value), ""} : Figure{}; }
Figure flag(bool value) { return {std::nullopt, value ? "true" : "false"}; }

void flatten_into(const Json& value, const std::string& name, Figures& figures) {
  const auto prefix = [&] { return name.empty() ? name : name + "."; };
  switch (value.type) {
    case Json::Type::kNull:
      figures[name] = {};
      break;
    case Json::Type::kTrue:
    case Json::Type::kFalse:
      figures[name] = flag(value.is(Json::Type::kTrue));
      break;
    case Json::Type::kNumber:
      figures[name] = {value.number(), ""};
      break;
    case Json::Type::kString:
      figures[name] = {std::nullopt, value.text};
      break;
    case Json::Type::kArray:
      figures[prefix()] = {};
      for (size_t k = 0; k < value.items.size(); ++k) {
        flatten_into(value.items[k], prefix() + std::to_string(k), figures);
      }
      break;
    case Json::Type::kObject:
      if (!name.empty()) figures[prefix()] = {};
      for (const auto& [key, member] : value.members) flatten_into(member, prefix() + key, figures);
      break;
  }
}

std::string shown(const Figure& figure) {
  if (!figure.text.empty()) return figure.text;
  if (!figure.number) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", *figure.number);
  return text;
}

bool agree(const Figure& want, const Figure& got, double tolerance) {
  if (want.text != got.text || want.number.has_value() != got.number.has_value()) return false;
  if (!want.number) return true;
  return std::abs(*want.number - *got.number) <= tolerance + 1e-12 * std::abs(*want.number);
}

/// The object or list of `figures` that the name lies directly under; empty where there is none.
std::string parent(const Figures& figures, const std::string& name) {
  const size_t dot = name.rfind('.', name.size() - 2);
  if (dot == std::string::npos) return "";
  const std::string prefix = name.substr(0, dot + 1);
  return figures.contains(prefix) ? prefix : "";
}

bool maps_names_to_amounts(const std::string& prefix) {
  return prefix.ends_with("badput_seconds.") || prefix.ends_with("by_class_seconds.") || prefix == "findings.";
}

void put(Figures& figures, const std::string& name, const std::map<std::string, Rational>& by_name, bool badput_only) {
  figures[name + "."] = {};
  for (const auto& [key, ns] : by_name) {
    if (badput_only && (key == "PRODUCTIVE" || key == "CUSTOM_BADPUT_EVENTS")) continue;
    figures[name + "." + key] = figure(ns);
  }
}

Rational productive(const reference::Totals& totals) {
  const auto found = totals.by_class_ns.find("PRODUCTIVE");
  return found == totals.by_class_ns.end() ? Rational(0) : found->second;
}

void put_attempts(Figures& figures, const reference::Accounting& job) {
  constexpr const char* kStatus[] = {"running", "completed", "failed", "died"};
  figures["attempts."] = {};
  for (size_t k = 0; k < job.attempts.size(); ++k) {
    const reference::AttemptRecord& attempt = job.attempts[k];
    const std::string prefix = "attempts." + std::to_string(k);
    figures[prefix + "."] = {};
    figures[prefix + ".id"] = {std::nullopt, attempt.id};
    figures[prefix + ".start"] = figure(Rational(attempt.start_ns));
    figures[prefix + ".end"] = figure(attempt.end_ns);
    figures[prefix + ".status"] = {std::nullopt, kStatus[static_cast<size_t>(attempt.status)]};
    figures[prefix + ".first_step"] = count(attempt.first_step);
    figures[prefix + ".last_step"] = count(attempt.last_step);
    figures[prefix + ".elapsed_seconds"] = figure(attempt.totals.elapsed_ns);
    figures[prefix + ".goodput_seconds"] = figure(productive(attempt.totals));
    put(figures, prefix + ".badput_seconds", attempt.totals.by_class_ns, true);
  }
}

void put_disruptions(Figures& figures, const reference::Accounting& job) {
  figures["disruption_records."] = {};
  for (size_t k = 0; k < job.disruptions.size(); ++k) {
    const reference::DisruptionRecord& record = job.disruptions[k];
    const std::string prefix = "disruption_records." + std::to_string(k);
    figures[prefix + "."] = {};
    figures[prefix + ".kind"] = {std::nullopt, record.rollback ? "rollback" : "restart"};
    figures[prefix + ".time"] = figure(Rational(record.time_ns));
    figures[prefix + ".attempt"] = count(record.attempt);
    figures[prefix + ".planned"] = flag(record.planned);
    figures[prefix + ".completed_end"] = flag(record.completed_end);
    figures[prefix + ".last_step"] = count(record.last_step);
    figures[prefix + ".resume_step"] = count(record.resume_step);
    figures[prefix + ".steps_wasted"] = count(record.steps_wasted);
    figures[prefix + ".wasted_seconds"] = figure(record.wasted_ns);
    figures[prefix + ".stalled_seconds"] = figure(record.stalled_ns);
    figures[prefix + ".recovery_seconds"] =
        figure(record.recovery_ns ? std::optional<Rational>(*record.recovery_ns) : std::nullopt);
    put(figures, prefix + ".recovery_by_class_seconds", record.recovery_by_class_ns, false);
  }
}

void put_findings(Figures& figures, const reference::Findings& findings, int64_t malformed_entries) {
  figures["findings."] = {};
  figures["findings.malformed_entry"] = count(findings.malformed_entries + malformed_entries);
  figures["findings.clock_skew"] = count(findings.clock_skew);
  figures["findings.clock_skew_seconds"] = figure(Rational(findings.clock_skew_ns));
  figures["findings.two_writers"] = count(findings.two_writers);
  figures["findings.unclosed_event"] = count(findings.unclosed_events);
  figures["findings.too_many_open_events"] = count(findings.too_many_open_events);
  figures["findings.overlapping_attempts"] = count(findings.overlapping_attempts);
}

}  // namespace

Figures flatten(const Json& expected) {
  Figures figures;
  flatten_into(expected, "", figures);
  return figures;
}

std::vector<std::string> differences(const Figures& want, const Figures& got, double tolerance_seconds) {
  std::vector<std::string> lines;
  const Figure absent, zero{0.0, ""};
  // A percentage of a short time is as uncertain as that time's seconds.
  const auto elapsed = want.find("elapsed_seconds");
  const double elapsed_seconds = elapsed == want.end() ? 1.0 : std::max(elapsed->second.number.value_or(1.0), 1e-9);
  const auto tolerance_of = [&](const std::string& name) {
    return name.ends_with("_percent") ? tolerance_seconds * std::max(1.0, 100 / elapsed_seconds) : tolerance_seconds;
  };
  const auto compare = [&](const std::string& name, const Figure* a, const Figure* b) {
    const Figure& missing = maps_names_to_amounts(parent(want, name)) ? zero : absent;
    const Figure& left = a == nullptr ? missing : *a;
    const Figure& right = b == nullptr ? missing : *b;
    if (!agree(left, right, tolerance_of(name)))
      lines.push_back(name + ": " + shown(right) + " instead of " + shown(left));
  };
  for (const auto& [name, figure] : want) {
    const auto found = got.find(name);
    if (found == got.end() && name.ends_with('.')) {
      lines.push_back(name + " is missing");
    } else {
      compare(name, &figure, found == got.end() ? nullptr : &found->second);
    }
  }
  for (const auto& [name, figure] : got) {
    const std::string prefix = parent(want, name);
    if (want.contains(name) || prefix.empty()) continue;
    const bool list = prefix == "attempts." || prefix == "disruption_records.";
    if (list) lines.push_back(name + " is not expected");
    if (maps_names_to_amounts(prefix)) compare(name, nullptr, &figure);
  }
  return lines;
}

Figures reference_window(const reference::Accounting& job, int64_t from_ns, int64_t to_ns,
                         const reference::Intervals& exclusions) {
  const reference::Totals totals = reference::totals(job, from_ns, to_ns, exclusions);
  Figures figures;
  figures["elapsed_seconds"] = figure(totals.elapsed_ns);
  figures["goodput_seconds"] = figure(productive(totals));
  figures["goodput_percent"] = {};
  if (totals.elapsed_ns > 0) {
    figures["goodput_percent"].number = static_cast<double>(Rational(100 * productive(totals) / totals.elapsed_ns));
  }
  put(figures, "badput_seconds", totals.by_class_ns, true);
  put(figures, "custom_badput_seconds", totals.by_custom_name_ns, false);
  if (const auto slices = reference::slice_efficiency(job, from_ns, to_ns)) {
    figures["slice_efficiency."] = {};
    figures["slice_efficiency.stepping"].number = static_cast<double>(slices->stepping);
    figures["slice_efficiency.available"].number = static_cast<double>(slices->available);
  } else {
    figures["slice_efficiency"] = {};
  }
  return figures;
}

Figures reference_figures(const reference::Accounting& job, int64_t malformed_entries) {
  const reference::Figures& answer = job.figures;
  Figures figures = reference_window(job, answer.start_ns, answer.end_ns, {});
  figures["start"] = figure(Rational(answer.start_ns));
  figures["end"] = figure(Rational(answer.end_ns));
  figures["disruptions"] = count(answer.disruptions);
  figures["max_productive_step"] = count(answer.max_productive_step);
  figures["last_step"] = count(answer.last_step);
  figures["ideal_step_time_seconds"] = figure(answer.ideal_step_time_ns);
  figures["step_time_deviation_seconds"] = figure(answer.step_time_deviation_ns);
  figures["typical_step_time_seconds"] = figure(answer.typical_step_time_ns);
  figures["async_data_loading_seconds"] = figure(answer.async_data_loading_ns);
  figures["ideal_goodput_percent"] = {};
  if (answer.ideal_goodput) {
    figures["ideal_goodput_percent"].number = static_cast<double>(Rational(100 * *answer.ideal_goodput));
  }
  put_attempts(figures, job);
  put_disruptions(figures, job);
  put_findings(figures, job.findings, malformed_entries);
  return figures;
}

reference::Options reference_options(const GoldenCase& golden) {
  reference::Options options{.now_ns = golden.now_ns};
  if (golden.dead_after_seconds) options.dead_after_ns = std::llround(*golden.dead_after_seconds * 1e9);
  if (golden.stall_factor) options.stall_factor = Rational(*golden.stall_factor);
  if (golden.stall_floor_seconds) options.stall_floor_ns = std::llround(*golden.stall_floor_seconds * 1e9);
  return options;
}

}  // namespace goodput::golden
