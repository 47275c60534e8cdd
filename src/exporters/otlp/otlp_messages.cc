// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/utf8.h"
#include "exporters/disruption_text.h"
#include "exporters/proto/otlp.pb.h"
#include "report/words.h"

namespace goodput::exporters {
namespace {

using report::JobStatus;

constexpr const char* kScope = "goodput";
constexpr int kCumulative = 2;

struct Severity {
  int number;
  const char* text;
};
constexpr Severity kInfo{9, "INFO"}, kWarning{13, "WARN"}, kError{17, "ERROR"};

std::string repaired(std::string_view text) {
  std::string out;
  append_repaired(out, text);
  return out;
}

template <typename Message>
otlp::AnyValue& attribute(Message& message, std::string_view key) {
  otlp::KeyValue& made = *message.add_attributes();
  made.set_key(repaired(key));
  return *made.mutable_value();
}

template <typename Message>
void add_text(Message& message, std::string_view key, std::string_view value) {
  attribute(message, key).set_string_value(repaired(value));
}

template <typename Message, typename Attributes>
void add_all(Message& message, const Attributes& attributes) {
  for (const auto& [key, value] : attributes) add_text(message, key, value);
}

void set_scope(otlp::Scope& scope) {
  scope.set_name(kScope);
  scope.set_version(GOODPUT_VERSION);
}

/// A family as a metric: the points of a counter are a sum, those of all others a gauge.
void add_family(const Family& family, const OtlpAttributes& of_job, int64_t since_ns, int64_t time_ns,
                otlp::ScopeMetrics& scope) {
  otlp::Metric metric;
  metric.set_name(family.otlp_name);
  metric.set_description(family.help);
  metric.set_unit(family.unit);
  auto& points =
      family.is_counter ? *metric.mutable_sum()->mutable_data_points() : *metric.mutable_gauge()->mutable_data_points();
  if (family.is_counter) {
    metric.mutable_sum()->set_is_monotonic(true);
    metric.mutable_sum()->set_aggregation_temporality(kCumulative);
  }
  for (const Sample& sample : family.samples) {
    if (!std::isfinite(sample.value)) continue;
    otlp::NumberDataPoint& point = *points.Add();
    point.set_time_unix_nano(static_cast<uint64_t>(time_ns));
    if (family.is_counter) {
      point.set_start_time_unix_nano(static_cast<uint64_t>(since_ns));
      point.set_as_int(static_cast<int64_t>(sample.value));
    } else {
      point.set_as_double(sample.value);
    }
    add_all(point, of_job);
    add_all(point, sample.labels);
  }
  if (!points.empty()) scope.add_metrics()->Swap(&metric);
}

Severity severity_of(JobStatus status) {
  if (status == JobStatus::kStalled) return kWarning;
  return status == JobStatus::kDown || status == JobStatus::kFailed ? kError : kInfo;
}

Severity severity_of(report::Severity severity) {
  if (severity == report::Severity::kInfo) return kInfo;
  return severity == report::Severity::kWarning ? kWarning : kError;
}

/// Makes the records of one report.
class News {
 public:
  News(const report::Report& report, otlp::Told& told) : report_(&report), told_(&told) {}

  void status(const StatusChange& change) {
    const std::string word(report::to_word(change.status));
    if (told_->status() == word) return;
    otlp::LogRecord& record =
        begin("ml.job.status", fmt::format("status/{}", change.time_ns), change.time_ns, severity_of(change.status));
    record.mutable_body()->set_string_value(fmt::format("the job is {}", word));
    add_text(record, "status", word);
    if (!told_->status().empty()) add_text(record, "previous_status", told_->status());
    told_->set_status(word);
  }

  void disruption(const report::Disruption& disruption) {
    if (disruption.index < told_->next_disruption()) return;
    if (!is_settled(*report_, disruption)) return;
    otlp::LogRecord& record = begin("ml.disruption", fmt::format("disruption/{}", disruption.index), disruption.time_ns,
                                    disruption.planned ? kInfo : kWarning);
    record.mutable_body()->set_string_value(repaired(disruption_text(disruption)));
    attribute(record, "index").set_int_value(disruption.index);
    add_text(record, "kind", report::to_word(disruption.kind));
    add_text(record, "cause", disruption.cause);
    add_text(record, "cause_source", disruption.cause_source);
    if (!disruption.detail.empty()) add_text(record, "detail", disruption.detail);
    attribute(record, "planned").set_bool_value(disruption.planned);
    if (disruption.last_step.has_value()) attribute(record, "last_step").set_int_value(*disruption.last_step);
    if (disruption.resume_step.has_value()) attribute(record, "resume_step").set_int_value(*disruption.resume_step);
    attribute(record, "steps_wasted").set_int_value(disruption.steps_wasted);
    attribute(record, "wasted_seconds").set_double_value(disruption.wasted_seconds);
    attribute(record, "stalled_seconds").set_double_value(disruption.stalled_seconds);
    if (disruption.recovery_seconds.has_value()) {
      attribute(record, "recovery_seconds").set_double_value(*disruption.recovery_seconds);
    }
    told_->set_next_disruption(disruption.index + 1);
  }

  void finding(const report::Finding& finding) {
    const auto& known = told_->findings();
    if (std::find(known.begin(), known.end(), finding.kind) != known.end()) return;
    otlp::LogRecord& record = begin("ml.data_quality.finding", "finding/" + finding.kind,
                                    finding.first_ns.value_or(report_->as_of_ns), severity_of(finding.severity));
    record.mutable_body()->set_string_value(repaired(finding.message));
    add_text(record, "kind", finding.kind);
    attribute(record, "count").set_int_value(finding.count);
    if (!finding.fix.empty()) add_text(record, "fix", finding.fix);
    told_->add_findings(finding.kind);
  }

 private:
  otlp::LogRecord& begin(const char* event, const std::string& id, int64_t time_ns, Severity severity) {
    otlp::LogRecord& record = *told_->add_pending();
    record.set_time_unix_nano(static_cast<uint64_t>(std::max<int64_t>(0, time_ns)));
    record.set_observed_time_unix_nano(static_cast<uint64_t>(report_->as_of_ns));
    record.set_severity_number(severity.number);
    record.set_severity_text(severity.text);
    record.set_event_name(event);
    std::string whose = report_->job;
    if (!report_->run_id.empty()) whose += "@" + report_->run_id;
    add_text(record, "event_id", whose + "/" + id);
    add_all(record, job_labels(*report_));
    return record;
  }

  const report::Report* report_;
  otlp::Told* told_;
};

}  // namespace

void add_metrics(const report::Report& report, const std::vector<Family>& own, int64_t since_ns,
                 const OtlpAttributes& resource, otlp::MetricsRequest& request) {
  otlp::ResourceMetrics& of_us = *request.add_resource_metrics();
  add_all(*of_us.mutable_resource(), resource);
  otlp::ScopeMetrics& scope = *of_us.add_scope_metrics();
  set_scope(*scope.mutable_scope());
  const OtlpAttributes of_job = job_labels(report);
  for (const Family& family : metrics_of(report)) add_family(family, of_job, since_ns, report.as_of_ns, scope);
  for (const Family& family : own) add_family(family, {}, since_ns, report.as_of_ns, scope);
}

size_t add_news(const Update& update, otlp::Told& told, uint64_t& changes_seen) {
  const int before = told.pending_size();
  News news(update.report, told);
  for (const StatusChange& change : update.status_changes) {
    if (change.number <= changes_seen) continue;
    changes_seen = change.number;
    news.status(change);
  }
  for (const report::Disruption& disruption : update.report.disruption_records) news.disruption(disruption);
  for (const report::Finding& finding : update.report.findings) news.finding(finding);
  return static_cast<size_t>(told.pending_size() - before);
}

void add_logs(const otlp::Told& told, const OtlpAttributes& resource, otlp::LogsRequest& request) {
  otlp::ResourceLogs& of_us = *request.add_resource_logs();
  add_all(*of_us.mutable_resource(), resource);
  otlp::ScopeLogs& scope = *of_us.add_scope_logs();
  set_scope(*scope.mutable_scope());
  *scope.mutable_log_records() = told.pending();
}

}  // namespace goodput::exporters
