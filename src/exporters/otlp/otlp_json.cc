// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_json.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/foreign_json.h"
#include "exporters/proto/otlp.pb.h"

namespace goodput::exporters {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const otlp::AnyValue& value) {
  switch (value.value_case()) {
    case otlp::AnyValue::kStringValue:
      return {{"stringValue", value.string_value()}};
    case otlp::AnyValue::kBoolValue:
      return {{"boolValue", value.bool_value()}};
    case otlp::AnyValue::kIntValue:
      return {{"intValue", std::to_string(value.int_value())}};
    case otlp::AnyValue::kDoubleValue:
      return {{"doubleValue", value.double_value()}};
    case otlp::AnyValue::VALUE_NOT_SET:
      break;
  }
  return Json::object();
}

/// Of anything repeated, by what makes one.
template <typename Repeated, typename Make>
Json list_of(const Repeated& all, Make make) {
  Json out = Json::array();
  for (const auto& each : all) out.push_back(make(each));
  return out;
}

template <typename Message>
Json attributes_of(const Message& message) {
  return list_of(message.attributes(), [](const otlp::KeyValue& attribute) {
    return Json{{"key", attribute.key()}, {"value", to_json(attribute.value())}};
  });
}

Json to_json(const otlp::Scope& scope) { return {{"name", scope.name()}, {"version", scope.version()}}; }

Json to_json(const otlp::NumberDataPoint& point) {
  Json out = {{"timeUnixNano", std::to_string(point.time_unix_nano())}};
  if (point.start_time_unix_nano() != 0) out["startTimeUnixNano"] = std::to_string(point.start_time_unix_nano());
  if (point.value_case() == otlp::NumberDataPoint::kAsInt) {
    out["asInt"] = std::to_string(point.as_int());
  } else {
    out["asDouble"] = point.as_double();
  }
  out["attributes"] = attributes_of(point);
  return out;
}

template <typename Points>
Json points_of(const Points& message) {
  return {{"dataPoints", list_of(message.data_points(), [](const auto& point) { return to_json(point); })}};
}

Json to_json(const otlp::Metric& metric) {
  Json out = {{"name", metric.name()}, {"description", metric.description()}, {"unit", metric.unit()}};
  if (metric.what_case() == otlp::Metric::kSum) {
    out["sum"] = points_of(metric.sum());
    out["sum"]["aggregationTemporality"] = metric.sum().aggregation_temporality();
    out["sum"]["isMonotonic"] = metric.sum().is_monotonic();
  } else {
    out["gauge"] = points_of(metric.gauge());
  }
  return out;
}

Json to_json(const otlp::LogRecord& record) {
  return {{"timeUnixNano", std::to_string(record.time_unix_nano())},
          {"observedTimeUnixNano", std::to_string(record.observed_time_unix_nano())},
          {"severityNumber", record.severity_number()},
          {"severityText", record.severity_text()},
          {"body", to_json(record.body())},
          {"attributes", attributes_of(record)},
          {"eventName", record.event_name()}};
}

template <typename Message>
Json resource_of(const Message& message) {
  return {{"attributes", attributes_of(message.resource())}};
}

/// Text that is not UTF-8 cannot be there: messages are made of repaired text.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string otlp_json(const otlp::MetricsRequest& request) {
  const auto metric = [](const otlp::Metric& each) { return to_json(each); };
  const auto scope = [&](const otlp::ScopeMetrics& each) {
    return Json{{"scope", to_json(each.scope())}, {"metrics", list_of(each.metrics(), metric)}};
  };
  const auto resource = [&](const otlp::ResourceMetrics& each) {
    return Json{{"resource", resource_of(each)}, {"scopeMetrics", list_of(each.scope_metrics(), scope)}};
  };
  return text_of({{"resourceMetrics", list_of(request.resource_metrics(), resource)}});
}

std::string otlp_json(const otlp::LogsRequest& request) {
  const auto record = [](const otlp::LogRecord& each) { return to_json(each); };
  const auto scope = [&](const otlp::ScopeLogs& each) {
    return Json{{"scope", to_json(each.scope())}, {"logRecords", list_of(each.log_records(), record)}};
  };
  const auto resource = [&](const otlp::ResourceLogs& each) {
    return Json{{"resource", resource_of(each)}, {"scopeLogs", list_of(each.scope_logs(), scope)}};
  };
  return text_of({{"resourceLogs", list_of(request.resource_logs(), resource)}});
}

bool read_otlp_json(std::string_view text, otlp::Response& response) {
  const Json json = parse_foreign_json<Json>(text);
  if (!json.is_object()) return false;
  const auto found = json.find("partialSuccess");
  if (found == json.end() || !found->is_object()) return true;
  for (const char* key : {"rejectedDataPoints", "rejectedLogRecords"}) {
    const auto count = found->find(key);
    if (count == found->end()) continue;
    int64_t rejected = count->is_number_integer() ? count->get<int64_t>() : 0;
    if (count->is_string()) {
      const std::string digits = count->get<std::string>();
      std::from_chars(digits.data(), digits.data() + digits.size(), rejected);
    }
    response.mutable_partial_success()->set_rejected(rejected);
  }
  if (const auto message = found->find("errorMessage"); message != found->end() && message->is_string()) {
    response.mutable_partial_success()->set_error_message(message->get<std::string>());
  }
  return true;
}

}  // namespace goodput::exporters
