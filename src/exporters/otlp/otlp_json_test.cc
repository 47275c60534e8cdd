// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_json.h"

#include <gtest/gtest.h>

#include "exporters/proto/otlp.pb.h"

namespace goodput::exporters {
namespace {

TEST(OtlpJson, MetricsAreAsTheSpecificationWritesThem) {
  otlp::MetricsRequest request;
  auto& scope = *request.add_resource_metrics()->add_scope_metrics();
  scope.mutable_scope()->set_name("goodput");
  auto& gauge = *scope.add_metrics();
  gauge.set_name("ml.goodput.ratio");
  auto& point = *gauge.mutable_gauge()->add_data_points();
  point.set_time_unix_nano(1'767'225'600'000'000'000);
  point.set_as_double(0.875);
  auto& attribute = *point.add_attributes();
  attribute.set_key("job_name");
  attribute.mutable_value()->set_string_value("J");
  auto& sum = *scope.add_metrics();
  sum.set_name("sent");
  sum.mutable_sum()->set_aggregation_temporality(2);
  sum.mutable_sum()->set_is_monotonic(true);
  auto& count = *sum.mutable_sum()->add_data_points();
  count.set_start_time_unix_nano(1);
  count.set_as_int(3);
  EXPECT_EQ(
      otlp_json(request),
      R"({"resourceMetrics":[{"resource":{"attributes":[]},"scopeMetrics":[{"scope":{"name":"goodput","version":""},"metrics":[)"
      R"({"name":"ml.goodput.ratio","description":"","unit":"","gauge":{"dataPoints":[{"timeUnixNano":"1767225600000000000",)"
      R"("asDouble":0.875,"attributes":[{"key":"job_name","value":{"stringValue":"J"}}]}]}},)"
      R"({"name":"sent","description":"","unit":"","sum":{"dataPoints":[{"timeUnixNano":"0","startTimeUnixNano":"1","asInt":"3",)"
      R"("attributes":[]}],"aggregationTemporality":2,"isMonotonic":true}}]}]}]})");
}

TEST(OtlpJson, LogsAreAsTheSpecificationWritesThem) {
  otlp::LogsRequest request;
  auto& record = *request.add_resource_logs()->add_scope_logs()->add_log_records();
  record.set_time_unix_nano(7);
  record.set_observed_time_unix_nano(8);
  record.set_severity_number(13);
  record.set_severity_text("WARN");
  record.set_event_name("ml.disruption");
  record.mutable_body()->set_string_value("a \"b\"");
  const auto add = [&](const char* key) -> otlp::AnyValue& {
    auto& attribute = *record.add_attributes();
    attribute.set_key(key);
    return *attribute.mutable_value();
  };
  add("i").set_int_value(-5);
  add("d").set_double_value(0.5);
  add("b").set_bool_value(false);
  EXPECT_EQ(
      otlp_json(request),
      R"({"resourceLogs":[{"resource":{"attributes":[]},"scopeLogs":[{"scope":{"name":"","version":""},"logRecords":[)"
      R"({"timeUnixNano":"7","observedTimeUnixNano":"8","severityNumber":13,"severityText":"WARN","body":{"stringValue":"a \"b\""},)"
      R"("attributes":[{"key":"i","value":{"intValue":"-5"}},{"key":"d","value":{"doubleValue":0.5}},)"
      R"({"key":"b","value":{"boolValue":false}}],"eventName":"ml.disruption"}]}]}]})");
}

TEST(OtlpJson, AnswersAreReadWithNumbersAsTextOrNot) {
  const std::pair<const char*, int64_t> cases[] = {
      {R"({})", 0},
      {R"({"partialSuccess":{}})", 0},
      {R"({"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"m"}})", 3},
      {R"({"partialSuccess":{"rejectedLogRecords":4,"new":1}})", 4},
      {R"({"partialSuccess":{"rejectedLogRecords":"many"}})", 0},
      {R"({"partialSuccess":7})", 0},
  };
  for (const auto& [text, rejected] : cases) {
    otlp::Response response;
    EXPECT_TRUE(read_otlp_json(text, response)) << text;
    EXPECT_EQ(response.partial_success().rejected(), rejected) << text;
  }
  otlp::Response response;
  for (const char* text : {"", "<html>", "[]", "{\"partialSuccess\":"}) EXPECT_FALSE(read_otlp_json(text, response));
}

}  // namespace
}  // namespace goodput::exporters
