// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "exporters/metrics.h"
#include "report/testing/samples.h"

namespace goodput::exporters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text, const std::string& beginning) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(beginning)) lines.push_back(line);
  }
  return lines;
}

report::Report small_report() {
  report::Report report;
  report.job = "llama \"7b\"\n\xff";
  report.goodput_percent = 87.5;
  report.goodput_seconds = 7;
  report.elapsed_seconds = 8;
  report.badput_seconds = {{"OTHER", 0.5}};
  report.custom_badput_seconds = {{"EVAL", 0.5}};
  report.windows = {{.window_seconds = 3600,
                     .elapsed_seconds = 4,
                     .goodput_seconds = 3,
                     .goodput_percent = 75,
                     .badput_seconds = {{"OTHER", 1}},
                     .disruptions = 2}};
  return report;
}

TEST(Exposition, SamplesCarryTheJobAndWhatTellsThemApart) {
  const report::Report report = small_report();
  const std::string text = expose({&report, 1}, Exposition::kText);
  const std::string job = "{job_name=\"llama \\\"7b\\\"\\n\xef\xbf\xbd\"";
  EXPECT_THAT(lines_of(text, "goodput_ratio"),
              ElementsAre("goodput_ratio" + job + "} 0.875", "goodput_ratio" + job + ",window=\"1h\"} 0.75"));
  EXPECT_THAT(lines_of(text, "badput_time_seconds"),
              ElementsAre("badput_time_seconds" + job + ",source=\"OTHER\"} 0.5",
                          "badput_time_seconds" + job + ",source=\"CUSTOM_BADPUT_EVENTS.EVAL\"} 0.5"));
  EXPECT_THAT(lines_of(text, "badput_ratio"),
              ElementsAre("badput_ratio" + job + ",source=\"OTHER\",window=\"1h\"} 0.25"));
  EXPECT_THAT(lines_of(text, "# TYPE goodput_ratio"), ElementsAre("# TYPE goodput_ratio gauge"));
  EXPECT_THAT(lines_of(text, "mtbf_seconds"), ElementsAre());
}

TEST(Exposition, JobsShareAFamily) {
  std::vector<report::Report> reports(2, small_report());
  reports[0].job = "a";
  reports[1].job = "b";
  reports[1].run_id = "7";
  const std::string text = expose(reports, Exposition::kText);
  EXPECT_THAT(
      lines_of(text, "elapsed_time_seconds"),
      ElementsAre("elapsed_time_seconds{job_name=\"a\"} 8", "elapsed_time_seconds{job_name=\"b\",run_id=\"7\"} 8"));
  EXPECT_EQ(lines_of(text, "# TYPE elapsed_time_seconds").size(), 1U);
}

TEST(Exposition, OpenMetricsEndsAndHasUnits) {
  const report::Report report = small_report();
  const std::string text = expose({&report, 1}, Exposition::kOpenMetrics);
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_THAT(text, HasSubstr("# UNIT elapsed_time_seconds seconds\n"));
  EXPECT_EQ(text.find("\n\n"), std::string::npos);
}

TEST(Exposition, TheScraperChooses) {
  EXPECT_EQ(exposition_for("text/plain;version=0.0.4;q=0.5,*/*;q=0.1"), Exposition::kText);
  EXPECT_EQ(exposition_for(""), Exposition::kText);
  EXPECT_EQ(exposition_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"), Exposition::kOpenMetrics);
}

TEST(Exposition, EverySampleReportIsWellFormed) {
  for (const report::testing::Sample& sample : report::testing::samples()) {
    std::set<std::string> seen;
    for (const std::string& line : lines_of(expose({&sample.report, 1}, Exposition::kText), "")) {
      if (line.starts_with('#')) continue;
      const size_t space = line.rfind("} ");
      ASSERT_NE(space, std::string::npos) << sample.name << ": " << line;
      EXPECT_TRUE(seen.insert(line.substr(0, space)).second) << sample.name << ": twice " << line;
    }
    EXPECT_GT(seen.size(), 5U);
  }
}

TEST(Metrics, WindowsAreNamedAsTheyAreTyped) {
  EXPECT_EQ(window_label(86400), "24h");
  EXPECT_EQ(window_label(900), "15m");
  EXPECT_EQ(window_label(90), "90s");
  EXPECT_EQ(window_label(0.5), "0.5s");
}

}  // namespace
}  // namespace goodput::exporters
