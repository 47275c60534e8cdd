// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "exporters/proto/otlp.pb.h"
#include "report/testing/samples.h"

namespace goodput::exporters {
namespace {

using report::JobStatus;
using testing::ElementsAre;

template <typename Message>
std::map<std::string, std::string> texts_of(const Message& message) {
  std::map<std::string, std::string> out;
  for (const auto& attribute : message.attributes()) out[attribute.key()] = attribute.value().string_value();
  return out;
}

std::vector<std::string> ids(const otlp::Told& told) {
  std::vector<std::string> out;
  for (const otlp::LogRecord& record : told.pending()) out.push_back(texts_of(record).at("event_id"));
  return out;
}

Update update_of(std::vector<StatusChange> changes = {}) {
  Update update;
  update.report.job = "llama";
  update.report.as_of_ns = 100;
  update.status_changes = std::move(changes);
  return update;
}

/// Of an exporter that has seen no change yet.
size_t news(const Update& update, otlp::Told& told) {
  uint64_t changes_seen = 0;
  return add_news(update, told, changes_seen);
}

report::Disruption disruption(int64_t index, std::optional<double> recovery_seconds) {
  report::Disruption out;
  out.index = index;
  out.time_ns = 50 + index;
  out.cause = "oom";
  out.last_step = 7;
  out.recovery_seconds = recovery_seconds;
  return out;
}

TEST(OtlpMetrics, GaugesAreOfTheJobAndCountersAreSumsOfTheProgram) {
  report::Report report = report::testing::sample("three");
  report.job = "llama \xff";
  const Family own{.name = "sent",
                   .otlp_name = "goodput.exporter.sent",
                   .unit = "{update}",
                   .help = "Updates.",
                   .samples = {{.labels = {{"exporter", "x"}}, .value = 3}},
                   .is_counter = true};
  otlp::MetricsRequest request;
  add_metrics(report, {own}, 17, {{"service.name", "goodput"}}, request);
  ASSERT_EQ(request.resource_metrics_size(), 1);
  EXPECT_EQ(texts_of(request.resource_metrics(0).resource()).at("service.name"), "goodput");
  const auto& metrics = request.resource_metrics(0).scope_metrics(0).metrics();
  ASSERT_EQ(static_cast<size_t>(metrics.size()), metrics_of(report).size() + 1);
  const otlp::Metric& ratio = metrics.Get(0);
  EXPECT_EQ(ratio.name(), "ml.goodput.ratio");
  EXPECT_EQ(ratio.unit(), "1");
  EXPECT_EQ(ratio.gauge().data_points(0).as_double(), *report.goodput_percent / 100);
  EXPECT_EQ(ratio.gauge().data_points(0).time_unix_nano(), static_cast<uint64_t>(report.as_of_ns));
  EXPECT_EQ(texts_of(ratio.gauge().data_points(0)).at("job_name"), "llama \xef\xbf\xbd");
  const otlp::Metric& sum = metrics.Get(metrics.size() - 1);
  EXPECT_TRUE(sum.sum().is_monotonic());
  EXPECT_EQ(sum.sum().aggregation_temporality(), 2);
  EXPECT_EQ(sum.sum().data_points(0).as_int(), 3);
  EXPECT_EQ(sum.sum().data_points(0).start_time_unix_nano(), 17U);
  EXPECT_THAT(texts_of(sum.sum().data_points(0)), ElementsAre(testing::Pair("exporter", "x")));
}

TEST(OtlpMetrics, WhatIsNoNumberIsLeftOut) {
  report::Report report;
  report.steps_per_second = std::numeric_limits<double>::infinity();
  otlp::MetricsRequest request;
  add_metrics(report, {}, 0, {}, request);
  for (const auto& metric : request.resource_metrics(0).scope_metrics(0).metrics()) {
    EXPECT_NE(metric.name(), "ml.step.rate");
  }
}

TEST(OtlpNews, EachChangeOfStateIsToldOnce) {
  otlp::Told told;
  EXPECT_EQ(
      news(update_of({{10, JobStatus::kRunning, 1}, {20, JobStatus::kDown, 2}, {30, JobStatus::kRunning, 3}}), told),
      3U);
  EXPECT_EQ(news(update_of(), told), 0U);
  EXPECT_THAT(ids(told), ElementsAre("llama/status/10", "llama/status/20", "llama/status/30"));
  EXPECT_EQ(texts_of(told.pending(1)).at("status"), "down");
  EXPECT_EQ(texts_of(told.pending(1)).at("previous_status"), "running");
  EXPECT_EQ(told.pending(1).severity_text(), "ERROR");
  EXPECT_EQ(told.pending(1).time_unix_nano(), 20U);
  EXPECT_EQ(told.pending(1).observed_time_unix_nano(), 100U);
}

TEST(OtlpNews, AnUpdateThatComesAgainWithMoreIsToldFromWhereItWas) {
  otlp::Told told;
  uint64_t changes_seen = 0;
  Update update = update_of({{10, JobStatus::kRunning, 1}, {20, JobStatus::kDown, 2}, {30, JobStatus::kRunning, 3}});
  EXPECT_EQ(add_news(update, told, changes_seen), 3U);
  update.status_changes.push_back({40, JobStatus::kStalled, 4});
  EXPECT_EQ(add_news(update, told, changes_seen), 1U);
}

TEST(OtlpNews, AMonitorThatStartsAgainTellsOnlyWhatHasChangedMeanwhile) {
  otlp::Told told;
  news(update_of({{10, JobStatus::kRunning, 1}}), told);
  told.clear_pending();
  otlp::Told again;
  ASSERT_TRUE(again.ParseFromString(told.SerializeAsString()));
  EXPECT_EQ(news(update_of({{40, JobStatus::kRunning, 1}}), again), 0U);
  EXPECT_EQ(news(update_of({{50, JobStatus::kCompleted, 2}}), again), 1U);
}

TEST(OtlpNews, DisruptionsAreToldOnceTheirCostIsKnown) {
  otlp::Told told;
  Update update = update_of();
  update.report.run_id = "r1";
  update.report.disruption_records = {disruption(0, 12.5), disruption(1, std::nullopt)};
  EXPECT_EQ(news(update, told), 1U);
  update.report.disruption_records[1].recovery_seconds = 3;
  EXPECT_EQ(news(update, told), 1U);
  EXPECT_EQ(news(update, told), 0U);
  EXPECT_THAT(ids(told), ElementsAre("llama@r1/disruption/0", "llama@r1/disruption/1"));
  const auto texts = texts_of(told.pending(0));
  EXPECT_EQ(texts.at("cause"), "oom");
  EXPECT_EQ(texts.at("job_name"), "llama");
  EXPECT_EQ(texts.at("run_id"), "r1");
  EXPECT_EQ(told.pending(0).time_unix_nano(), 50U);
  EXPECT_EQ(told.pending(0).severity_number(), 13);
}

TEST(OtlpNews, ADisruptionThatNothingFollowsIsToldWhenTheJobEnds) {
  otlp::Told told;
  Update update = update_of();
  update.report.disruption_records = {disruption(0, std::nullopt)};
  EXPECT_EQ(news(update, told), 0U);
  update.report.status = JobStatus::kFailed;
  EXPECT_EQ(news(update, told), 1U);
}

TEST(OtlpNews, EachKindOfFindingIsToldOnce) {
  otlp::Told told;
  Update update = update_of();
  update.report.findings = {{.kind = "clock_skew", .severity = report::Severity::kWarning, .count = 1, .first_ns = 5}};
  EXPECT_EQ(news(update, told), 1U);
  update.report.findings[0].count = 2;
  update.report.findings.push_back({.kind = "two_writers", .severity = report::Severity::kError, .count = 1});
  EXPECT_EQ(news(update, told), 1U);
  EXPECT_THAT(ids(told), ElementsAre("llama/finding/clock_skew", "llama/finding/two_writers"));
  EXPECT_EQ(told.pending(0).time_unix_nano(), 5U);
  EXPECT_EQ(told.pending(1).severity_text(), "ERROR");
}

}  // namespace
}  // namespace goodput::exporters
