// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/time_text.h"
#include "report/json.h"
#include "report/words.h"

namespace goodput::report {
namespace {

using Json = nlohmann::ordered_json;

// Reads the members of one object into fields; the first that has the wrong type is remembered, by its dotted name, in
// the error that all readers of one document share.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string path, Status& error)
      : object_(object), path_(std::move(path)), error_(error) {
    if (!object_.is_object()) fail(path_, "an object");
  }

  void member(const char* key, std::string& out) {
    if (const Json* value = find(key)) {
      value->is_string() ? static_cast<void>(out = value->get<std::string>()) : fail(name_of(key), "a string");
    }
  }
  void member(const char* key, bool& out) {
    if (const Json* value = find(key)) {
      value->is_boolean() ? static_cast<void>(out = value->get<bool>()) : fail(name_of(key), "true or false");
    }
  }
  void member(const char* key, double& out) {
    if (const Json* value = find(key)) {
      value->is_number() ? static_cast<void>(out = value->get<double>()) : fail(name_of(key), "a number");
    }
  }
  template <typename Integer>
    requires(std::is_same_v<Integer, int64_t> || std::is_same_v<Integer, int>)
  void member(const char* key, Integer& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number_integer() || value->get<int64_t>() > std::numeric_limits<Integer>::max() ||
        value->get<int64_t>() < std::numeric_limits<Integer>::min()) {
      return fail(name_of(key), "an integer");
    }
    out = static_cast<Integer>(value->get<int64_t>());
  }
  template <typename T>
  void member(const char* key, std::optional<T>& out) {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) return;
    member(key, out.emplace());
  }
  template <typename T>
  void member(const char* key, std::map<std::string, T>& out) {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) return;
    ObjectReader members(*value, name_of(key), error_);
    if (!value->is_object()) return;
    for (const auto& [name, held] : value->items()) members.member(name.c_str(), out[name]);
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void member(const char* key, Enum& out) {
    std::string word;
    member(key, word);
    if (find(key) == nullptr) return;
    const std::optional<Enum> value = from_word<Enum>(word);
    value ? static_cast<void>(out = *value) : fail(name_of(key), "one of its words");
  }
  void time(const char* key, int64_t& out) {
    std::string text;
    member(key, text);
    if (find(key) == nullptr) return;
    const std::optional<int64_t> time_ns = parse_rfc3339(text);
    time_ns ? static_cast<void>(out = *time_ns) : fail(name_of(key), "an RFC 3339 time");
  }
  void time(const char* key, std::optional<int64_t>& out) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_null()) time(key, out.emplace());
  }
  /// Calls `read(ObjectReader&)` for an object member that is there and not null.
  template <typename Read>
  void object(const char* key, Read read) {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) return;
    ObjectReader members(*value, name_of(key), error_);
    read(members);
  }
  /// Appends one T per element, each filled by `read(ObjectReader&, T&)`.
  template <typename T, typename Read>
  void list(const char* key, std::vector<T>& out, Read read) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return fail(name_of(key), "an array");
    for (size_t i = 0; i < value->size(); ++i) {
      ObjectReader element((*value)[i], name_of(key) + "[" + std::to_string(i) + "]", error_);
      read(element, out.emplace_back());
    }
  }
  void numbers(const char* key, std::vector<double>& out) {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) return;
    if (!value->is_array()) return fail(name_of(key), "an array of numbers");
    for (const Json& element : *value) {
      if (!element.is_number()) return fail(name_of(key), "an array of numbers");
      out.push_back(element.get<double>());
    }
  }
  template <typename Visit>
  void each_key(Visit visit) {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items()) visit(key.c_str());
  }
  void fail(const std::string& name, const char* wanted) {
    if (error_.ok()) error_ = Status(StatusCode::kInvalidArgument, "reading a report: " + name + " is not " + wanted);
  }
  std::string name_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

 private:
  const Json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  const Json& object_;
  std::string path_;
  Status& error_;
};

void read_attempt(ObjectReader& in, Attempt& attempt) {
  in.member("index", attempt.index);
  in.member("id", attempt.id);
  in.member("host", attempt.host);
  in.time("start", attempt.start_ns);
  in.time("end", attempt.end_ns);
  in.member("status", attempt.status);
  in.member("exit_code", attempt.exit_code);
  in.member("exit_signal", attempt.exit_signal);
  in.member("first_step", attempt.first_step);
  in.member("last_step", attempt.last_step);
  in.member("elapsed_seconds", attempt.elapsed_seconds);
  in.member("goodput_seconds", attempt.goodput_seconds);
  in.member("badput_seconds", attempt.badput_seconds);
}

void read_disruption(ObjectReader& in, Disruption& disruption) {
  in.member("index", disruption.index);
  in.member("kind", disruption.kind);
  in.time("time", disruption.time_ns);
  in.member("attempt", disruption.attempt);
  in.member("planned", disruption.planned);
  in.member("cause", disruption.cause);
  in.member("cause_source", disruption.cause_source);
  in.member("detail", disruption.detail);
  in.member("completed_end", disruption.completed_end);
  in.member("last_step", disruption.last_step);
  in.member("resume_step", disruption.resume_step);
  in.member("steps_wasted", disruption.steps_wasted);
  in.member("wasted_seconds", disruption.wasted_seconds);
  in.member("stalled_seconds", disruption.stalled_seconds);
  in.member("recovery_seconds", disruption.recovery_seconds);
  in.member("recovery_by_class_seconds", disruption.recovery_by_class_seconds);
}

void read_window(ObjectReader& in, Window& window) {
  in.member("window_seconds", window.window_seconds);
  in.time("start", window.start_ns);
  in.time("end", window.end_ns);
  in.member("elapsed_seconds", window.elapsed_seconds);
  in.member("goodput_seconds", window.goodput_seconds);
  in.member("goodput_percent", window.goodput_percent);
  in.member("badput_seconds", window.badput_seconds);
  in.member("custom_badput_seconds", window.custom_badput_seconds);
  in.member("disruptions", window.disruptions);
}

void read_rank(ObjectReader& in, Rank& rank) {
  in.member("process_index", rank.process_index);
  in.member("host", rank.host);
  in.time("last_heartbeat", rank.last_heartbeat_ns);
  in.object("lateness_seconds", [&](ObjectReader& lateness) {
    lateness.member("p90", rank.lateness_p90_seconds);
    lateness.member("p99", rank.lateness_p99_seconds);
  });
}

void read_finding(ObjectReader& in, Finding& finding) {
  in.member("kind", finding.kind);
  in.member("severity", finding.severity);
  in.member("count", finding.count);
  in.member("seconds", finding.seconds);
  in.time("first", finding.first_ns);
  in.member("message", finding.message);
  in.member("fix", finding.fix);
}

void read_timeline(ObjectReader& in, Timeline& timeline) {
  int64_t buckets = 0;
  in.time("start", timeline.start_ns);
  in.time("end", timeline.end_ns);
  in.member("buckets", buckets);
  if (buckets < 0 || buckets > kMaxTimelineBuckets) return in.fail(in.name_of("buckets"), "a number of buckets");
  timeline.buckets.resize(static_cast<size_t>(buckets));
  in.object("seconds", [&](ObjectReader& classes) {
    classes.each_key([&](const char* name) {
      std::vector<double> column;
      classes.numbers(name, column);
      if (column.size() != timeline.buckets.size()) return classes.fail(classes.name_of(name), "a value per bucket");
      for (size_t i = 0; i < column.size(); ++i) {
        if (column[i] != 0) timeline.buckets[i][name] = column[i];
      }
    });
  });
}

void read_steps(ObjectReader& in, Report& report) {
  in.member("max_productive_step", report.max_productive_step);
  in.member("last_step", report.last_step);
  in.member("steps_per_second", report.steps_per_second);
  in.member("ideal_step_time_seconds", report.ideal_step_time_seconds);
  in.member("step_time_deviation_seconds", report.step_time_deviation_seconds);
  in.member("ideal_goodput_percent", report.ideal_goodput_percent);
  in.object("step_time_percentiles_seconds", [&](ObjectReader& percentiles) {
    StepTimePercentiles& values = report.step_time_percentiles_seconds.emplace();
    percentiles.member("p50", values.p50);
    percentiles.member("p90", values.p90);
    percentiles.member("p99", values.p99);
    percentiles.member("max", values.max);
  });
  in.object("slice_efficiency", [&](ObjectReader& slices) {
    SliceEfficiency& values = report.slice_efficiency.emplace();
    slices.member("stepping", values.stepping);
    slices.member("available", values.available);
  });
}

void read_rates_and_cost(ObjectReader& in, Report& report) {
  in.member("disruptions", report.disruptions);
  in.member("unplanned_disruptions", report.unplanned_disruptions);
  in.member("mtbf_seconds", report.mtbf_seconds);
  std::vector<double> interval;
  in.numbers("mtbf_interval_seconds", interval);
  if (interval.size() == 2) report.mtbf_interval_seconds = {interval[0], interval[1]};
  if (!interval.empty() && interval.size() != 2) in.fail("mtbf_interval_seconds", "a pair of numbers");
  in.member("mttr_seconds", report.mttr_seconds);
  in.member("accelerators", report.accelerators);
  in.member("accelerator_type", report.accelerator_type);
  in.member("accelerator_hours", report.accelerator_hours);
  in.member("cost", report.cost);
  in.member("currency", report.currency);
}

void read_lists(ObjectReader& in, Report& report) {
  in.list("attempts", report.attempts, read_attempt);
  in.list("disruption_records", report.disruption_records, read_disruption);
  in.object("omitted", [&](ObjectReader& omitted) {
    omitted.member("attempts", report.attempts_omitted);
    omitted.member("disruption_records", report.disruption_records_omitted);
  });
  in.list("windows", report.windows, read_window);
  in.list("exclusions", report.exclusions, [](ObjectReader& exclusion, std::pair<int64_t, int64_t>& interval) {
    exclusion.time("start", interval.first);
    exclusion.time("end", interval.second);
  });
  in.list("ranks", report.ranks, read_rank);
  in.member("first_stopped_rank", report.first_stopped_rank);
  in.object("data_quality", [&](ObjectReader& quality) { quality.list("findings", report.findings, read_finding); });
  in.object("timeline", [&](ObjectReader& timeline) { read_timeline(timeline, report.timeline); });
}

void read_report(ObjectReader& in, Report& report) {
  in.member("job", report.job);
  in.member("run_id", report.run_id);
  in.member("labels", report.labels);
  in.member("status", report.status);
  in.member("provisional", report.provisional);
  in.member("clipped", report.clipped);
  in.time("start", report.start_ns);
  in.time("end", report.end_ns);
  in.time("as_of", report.as_of_ns);
  in.member("elapsed_seconds", report.elapsed_seconds);
  in.member("goodput_seconds", report.goodput_seconds);
  in.member("goodput_percent", report.goodput_percent);
  in.member("badput_seconds", report.badput_seconds);
  in.member("custom_badput_seconds", report.custom_badput_seconds);
  in.member("async_data_loading_seconds", report.async_data_loading_seconds);
  read_steps(in, report);
  read_rates_and_cost(in, report);
  read_lists(in, report);
}

}  // namespace

Result<Report> parse_report(std::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return Status(StatusCode::kInvalidArgument, "reading a report: the text is not JSON");
  Status error;
  ObjectReader reader(object, "", error);
  std::string schema;
  reader.member("schema", schema);
  if (error.ok() && schema != kReportSchema) {
    return Status(StatusCode::kUnsupported,
                  "reading a report: its schema is \"" + schema + "\", not \"" + std::string(kReportSchema) + "\"");
  }
  Report report;
  read_report(reader, report);
  if (!error.ok()) return error;
  return report;
}

}  // namespace goodput::report
