// SPDX-License-Identifier: Apache-2.0
#include "exporters/cloud_monitoring/workload_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace goodput::exporters {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

report::Report sample() {
  report::Report report;
  report.job = "llama-7b";
  report.elapsed_seconds = 1000;
  report.goodput_seconds = 700;
  report.badput_seconds = {{"CHECKPOINT_SAVE", 40}, {"OTHER", 10}, {"STALLED", 50}};
  report.custom_badput_seconds = {{"EVAL", 200}};
  report.disruptions = 3;
  report.max_productive_step = 1234;
  report.step_time_deviation_seconds = 0.25;
  report.ideal_step_time_seconds = 2.5;
  return report;
}

/// "name{label=value,…} value", integers and doubles told apart.
std::vector<std::string> lines(const report::Report& report, WorkloadSeriesOptions options = {}) {
  if (options.accelerator_type.empty()) options.accelerator_type = "TPU-v5p";
  std::vector<std::string> out;
  for (const WorkloadSeries& series : workload_series(report, options)) {
    std::string line = series.name + "{";
    for (const auto& [name, value] : series.labels) line += (line.ends_with('{') ? "" : ",") + name + "=" + value;
    const int64_t* integer = std::get_if<int64_t>(&series.value);
    char number[64];
    std::snprintf(number, sizeof number, "%.6g", integer != nullptr ? 0.0 : std::get<double>(series.value));
    out.push_back(line + "} " + (integer != nullptr ? "int " + std::to_string(*integer) : number));
  }
  return out;
}

TEST(WorkloadSeries, AreThoseOfTheIncumbentInNamesLabelsAndKinds) {
  EXPECT_THAT(
      lines(sample()),
      ElementsAre("goodput_time{goodput_source=TOTAL,accelerator_type=TPU-v5p} 700",
                  "badput_time{badput_source=TPU_INITIALIZATION,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=TRAINING_PREP,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=PROGRAM_STARTUP,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=DATA_LOADING_SYNC,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=UNPRODUCTIVE_CHECKPOINT_SAVE_TIME,accelerator_type=TPU-v5p} 40",
                  "badput_time{badput_source=UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=WASTED_PROGRESS_FROM_DISRUPTION,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION,accelerator_type=TPU-v5p} 0",
                  "badput_time{badput_source=OTHER,accelerator_type=TPU-v5p} 60",
                  "badput_time{badput_source=CUSTOM_BADPUT_EVENTS.EVAL,accelerator_type=TPU-v5p} 200",
                  "disruptions{window_type=cumulative,accelerator_type=TPU-v5p} int 3",
                  "max_productive_steps{accelerator_type=TPU-v5p} int 1234",
                  "step_time_deviation{accelerator_type=TPU-v5p} 0.25",
                  "total_elapsed_time{window_type=cumulative,accelerator_type=TPU-v5p} 1000", "performance{} 2.5"));
}

TEST(WorkloadSeries, WindowsAreInPercentWithTheirSeconds) {
  report::Report report = sample();
  report.windows = {{.window_seconds = 3600,
                     .elapsed_seconds = 1000,
                     .goodput_seconds = 700,
                     .goodput_percent = 70,
                     .badput_seconds = {{"OTHER", 100}},
                     .custom_badput_seconds = {{"EVAL", 200}},
                     .slice_efficiency = report::SliceEfficiency{.stepping = 0.5, .available = 0.75}}};
  const std::vector<std::string> windows = lines(report, {.has_totals = false});
  EXPECT_EQ(windows.front(),
            "interval_goodput{goodput_source=TOTAL,rolling_window_size=3600,accelerator_type=TPU-v5p} 70");
  EXPECT_THAT(windows,
              Contains("interval_badput{badput_source=OTHER,rolling_window_size=3600,accelerator_type=TPU-v5p} 10"));
  EXPECT_THAT(windows, Contains("interval_badput{badput_source=CUSTOM_BADPUT_EVENTS.EVAL,rolling_window_size=3600,"
                                "accelerator_type=TPU-v5p} 20"));
  EXPECT_THAT(windows, Contains("stepping_slice_efficiency{window_type=INTERVAL,rolling_window_size=3600,"
                                "accelerator_type=TPU-v5p} 0.5"));
  EXPECT_THAT(windows, Contains("available_slice_efficiency{window_type=INTERVAL,rolling_window_size=3600,"
                                "accelerator_type=TPU-v5p} 0.75"));
  EXPECT_EQ(lines(report, {.has_windows = false}), lines(sample()));
}

TEST(WorkloadSeries, ElasticSourcesAndSliceEfficienciesAreOfElasticJobs) {
  report::Report report = sample();
  EXPECT_THAT(lines(report), Not(Contains(HasSubstr("ELASTIC_"))));
  report.slice_efficiency = report::SliceEfficiency{.stepping = 0.9, .available = 1};
  report.badput_seconds["ELASTIC_SCALE_UP"] = 5;
  const std::vector<std::string> elastic = lines(report);
  EXPECT_THAT(elastic, Contains("badput_time{badput_source=ELASTIC_SCALE_UP,accelerator_type=TPU-v5p} 5"));
  EXPECT_THAT(elastic, Contains("badput_time{badput_source=ELASTIC_SLICE_DOWN,accelerator_type=TPU-v5p} 0"));
  EXPECT_THAT(elastic, Contains("badput_time{badput_source=ELASTIC_REINITIALIZATION,accelerator_type=TPU-v5p} 0"));
  EXPECT_THAT(elastic, Contains("stepping_slice_efficiency{window_type=CUMULATIVE,rolling_window_size=0,"
                                "accelerator_type=TPU-v5p} 0.9"));
}

TEST(WorkloadSeries, AbsentAnswersHaveNoSeries) {
  report::Report report = sample();
  report.step_time_deviation_seconds.reset();
  report.ideal_step_time_seconds.reset();
  report.windows = {{.window_seconds = 60}};
  EXPECT_THAT(lines(report), Not(Contains(HasSubstr("step_time_deviation"))));
  EXPECT_THAT(lines(report), Not(Contains(HasSubstr("performance"))));
  EXPECT_THAT(lines(report), Not(Contains(HasSubstr("interval_"))));
  report.goodput_seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(lines(report), Not(Contains(HasSubstr("goodput_time"))));
}

TEST(WorkloadSeries, ClusterStandsOnEverySeriesButPerformance) {
  for (const std::string& line : lines(sample(), {.cluster = "c1"})) {
    EXPECT_EQ(line.find("cluster_name=c1") != std::string::npos, !line.starts_with("performance")) << line;
  }
}

TEST(WorkloadSeries, LabelsAreValidUtf8WithinTheLimit) {
  report::Report report = sample();
  report.custom_badput_seconds = {{"\xFF", 1}};
  std::string name = "a";  // so that a character stands across the limit
  for (int i = 0; i < 600; ++i) name += "\xC3\xA9";
  report.custom_badput_seconds[name] = 2;
  std::vector<std::string> sources;
  for (const WorkloadSeries& series : workload_series(report, {})) {
    if (series.name == "badput_time" && series.labels[0].second.starts_with("CUSTOM")) {
      sources.push_back(series.labels[0].second);
    }
  }
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources[0].size(), 1024U);
  EXPECT_TRUE(sources[0].ends_with("\xC3\xA9"));
  EXPECT_EQ(sources[1], "CUSTOM_BADPUT_EVENTS.\xEF\xBF\xBD");
}

TEST(WorkloadSeries, CustomEventsAreBoundedAndTheRestIsOneSeries) {
  report::Report report = sample();
  report.badput_seconds.clear();
  report.custom_badput_seconds.clear();
  for (int i = 0; i < 300; ++i) report.custom_badput_seconds["SHARD-" + std::to_string(i)] = 1 + i;
  report.windows = {{.window_seconds = 60, .elapsed_seconds = 100, .goodput_percent = 1}};
  report.windows[0].custom_badput_seconds = report.custom_badput_seconds;
  std::map<std::string, std::pair<size_t, double>> custom;
  for (const WorkloadSeries& series : workload_series(report, {})) {
    if (!series.labels.empty() && series.labels[0].second.starts_with("CUSTOM")) {
      auto& [count, sum] = custom[series.name];
      ++count;
      sum += std::get<double>(series.value);
    }
  }
  EXPECT_EQ(custom["badput_time"], (std::pair<size_t, double>(65, 300 * 301 / 2)));
  EXPECT_EQ(custom["interval_badput"], (std::pair<size_t, double>(65, 300 * 301 / 2)));
}

TEST(WorkloadSeries, NoTwoHaveTheSameKey) {
  report::Report report = sample();
  // Repaired, cut and rounded these are the same.
  const std::string name(2'000, 'x');
  report.custom_badput_seconds = {{name + "1", 1}, {name + "2", 2}, {"\xFE", 4}, {"\xFF", 8}};
  const report::Window window{.window_seconds = 60, .elapsed_seconds = 100, .goodput_percent = 1};
  report.windows = {window, window, window};
  report.windows[1].window_seconds = 60.25;
  std::set<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> keys;
  double custom = 0;
  for (const WorkloadSeries& series : workload_series(report, {})) {
    EXPECT_TRUE(keys.emplace(series.name, series.labels).second) << series.name;
    if (series.name == "badput_time" && series.labels[0].second.starts_with("CUSTOM")) {
      custom += std::get<double>(series.value);
    }
  }
  EXPECT_EQ(custom, 15);
}

}  // namespace
}  // namespace goodput::exporters
