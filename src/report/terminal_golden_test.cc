// The renderings as text: tests/golden/terminal/SAMPLE.STYLE.txt. To look at them, `cat` those of the style "color-120"
// on a terminal. GOODPUT_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/terminal.h"
#include "report/testing/samples.h"

namespace goodput::report {
namespace {

struct NamedStyle {
  const char* name;
  TerminalStyle style;
};
constexpr NamedStyle kStyles[] = {
    {"plain-80", {.columns = 80, .unicode = true, .colors = ColorDepth::kNone}},
    {"ascii-60", {.columns = 60, .unicode = false, .colors = ColorDepth::kNone}},
    {"color-120", {.columns = 120, .unicode = true, .colors = ColorDepth::k256}},
};

void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = "tests/golden/terminal/" + name + ".txt";
  if (std::getenv("GOODPUT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(actual, expected.str()) << path;
}

TEST(TerminalGolden, ReportsLookAsTheyWere) {
  for (const testing::Sample& sample : testing::samples()) {
    for (const NamedStyle& named : kStyles) {
      expect_golden(sample.name + "." + named.name, render_report(sample.report, named.style));
    }
  }
}

TEST(TerminalGolden, ListsLookAsTheyWere) {
  const Report three = testing::sample("three");
  const Report thirty = testing::sample("thirty");
  std::vector<JobSummary> jobs;
  for (const testing::Sample& sample : testing::samples()) jobs.push_back(summarize(sample.report));
  for (const NamedStyle& named : kStyles) {
    const std::string style = std::string(".") + named.name;
    expect_golden("attempts" + style, render_attempts(three, named.style));
    expect_golden("disruptions" + style, render_disruptions(three, named.style));
    expect_golden("ranks" + style, render_ranks(thirty, named.style));
    expect_golden("jobs" + style, render_jobs(jobs, named.style));
  }
}

}  // namespace
}  // namespace goodput::report
