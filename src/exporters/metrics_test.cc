// SPDX-License-Identifier: Apache-2.0
#include "exporters/metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "exporters/custom_events.h"
#include "exporters/pipe/pipe_metrics.h"

namespace goodput::exporters {
namespace {

std::map<std::string, double> by_source(const std::vector<Family>& families, const std::string& name) {
  std::map<std::string, double> out;
  for (const Family& family : families) {
    if (family.name != name) continue;
    for (const Sample& sample : family.samples) out[sample.labels.front().second] = sample.value;
  }
  return out;
}

TEST(Metrics, CustomEventsBeyondTheLimitAreJoined) {
  report::Report report;
  report.windows = {{.window_seconds = 60, .elapsed_seconds = 60}};
  const auto name = [](size_t i) { return fmt::format("SHARD {:03}", i); };
  for (size_t i = 0; i < kMaxCustomEvents + 10; ++i) {
    report.custom_badput_seconds[name(i)] = static_cast<double>(i + 1);
    report.windows[0].custom_badput_seconds[name(i)] = 0.5;
  }
  const std::vector<Family> families = metrics_of(report);
  const auto seconds = by_source(families, "badput_time_seconds");
  EXPECT_EQ(seconds.size(), kMaxCustomEvents + 1);
  EXPECT_EQ(seconds.at("CUSTOM_BADPUT_EVENTS.other"), 55.0);  // 1 + … + 10: those with the least time
  EXPECT_EQ(seconds.at("CUSTOM_BADPUT_EVENTS.SHARD 010"), 11.0);
  const auto ratios = by_source(families, "badput_ratio");
  EXPECT_EQ(ratios.size(), kMaxCustomEvents + 1);
  EXPECT_NEAR(ratios.at("CUSTOM_BADPUT_EVENTS.other"), 5.0 / 60, 1e-12);
}

TEST(Metrics, SeriesOfTheLargestReportAreBounded) {
  report::Report report;
  const char* const classes[] = {"ACCELERATOR_INITIALIZATION",
                                 "TRAINING_PREP",
                                 "PROGRAM_STARTUP",
                                 "DATA_LOADING_SYNC",
                                 "CHECKPOINT_SAVE",
                                 "CHECKPOINT_RESTORE",
                                 "WASTED_PROGRESS",
                                 "ELASTIC_SLICE_DOWN",
                                 "INFRASTRUCTURE_RECOVERY",
                                 "ELASTIC_SCALE_UP",
                                 "STALLED",
                                 "ELASTIC_REINITIALIZATION",
                                 "OTHER"};
  for (const char* each : classes) report.badput_seconds[each] = 1;
  for (int i = 0; i < 256; ++i) report.custom_badput_seconds[fmt::format("EVENT {}", i)] = 1;
  for (int i = 1; i <= 3; ++i) {
    report.windows.push_back({.window_seconds = i * 3600.0,
                              .elapsed_seconds = 1,
                              .goodput_percent = 1,
                              .badput_seconds = report.badput_seconds,
                              .custom_badput_seconds = report.custom_badput_seconds});
  }
  report.attempts.resize(1'000);
  report.disruption_records.resize(1'000);
  report.ranks.resize(1'000);
  size_t series = 0;
  for (const Family& family : metrics_of(report)) series += family.samples.size();
  EXPECT_LT(series, 500U);
}

TEST(Metrics, WhatRecordAndAccountBothFindIsOneSeries) {
  report::Report report;
  report.findings = {{.kind = "two_writers", .count = 2}, {.kind = "clock_step", .count = 1}};
  report.findings.push_back({.kind = "two_writers", .count = 3});
  std::map<std::string, double> counts;
  for (const Family& family : metrics_of(report)) {
    if (family.name != "data_quality_findings") continue;
    for (const Sample& sample : family.samples)
      EXPECT_TRUE(counts.emplace(sample.labels[0].second, sample.value).second);
  }
  EXPECT_EQ(counts, (std::map<std::string, double>{{"two_writers", 5}, {"clock_step", 1}}));
}

TEST(Metrics, SamplesOfExportersSayWhoseTheyAre) {
  const std::vector<WatchedPipe> pipes = {{"a", [] { return PipeCounters{.sent = 3, .last_success_ns = 1}; }}};
  const JobLabels wanted = {{"job_name", "7b"}, {"run_id", "r2"}, {"exporter", "a"}};
  for (const Family& family : families_of(pipes, job_labels("7b", "r2"))) {
    for (const Sample& sample : family.samples) EXPECT_EQ(sample.labels, wanted) << family.name;
  }
}

TEST(Metrics, ExportersTellHowTheyDo) {
  const std::vector<WatchedPipe> pipes = {
      {"a", [] { return PipeCounters{.offered = 5, .sent = 3, .failed = 2, .last_success_ns = 1'500'000'000}; }},
      {"b", [] { return PipeCounters{.given_up = 1, .dropped_steps = 7, .rejected = 4}; }}};
  const std::vector<Family> families = families_of(pipes, {});
  using Values = std::map<std::string, double>;
  EXPECT_EQ(by_source(families, "goodput_exporter_updates"), (Values{{"a", 5}, {"b", 0}}));
  EXPECT_EQ(by_source(families, "goodput_exporter_sent"), (Values{{"a", 3}, {"b", 0}}));
  EXPECT_EQ(by_source(families, "goodput_exporter_failures"), (Values{{"a", 2}, {"b", 0}}));
  EXPECT_EQ(by_source(families, "goodput_exporter_given_up"), (Values{{"a", 0}, {"b", 1}}));
  EXPECT_EQ(by_source(families, "goodput_exporter_rejected"), (Values{{"a", 0}, {"b", 4}}));
  EXPECT_EQ(by_source(families, "goodput_exporter_dropped_steps"), (Values{{"a", 0}, {"b", 7}}));
  EXPECT_EQ(by_source(families, "goodput_exporter_last_success_timestamp_seconds"), (Values{{"a", 1.5}}));
}

}  // namespace
}  // namespace goodput::exporters
