// Promises that hold for every rendering of every sample, whatever the names in it.
// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/terminal/text.h"
#include "report/testing/samples.h"

namespace goodput::report {
namespace {

std::string everything(const Report& report, const TerminalStyle& style) {
  const std::vector<JobSummary> jobs = {summarize(report)};
  return render_report(report, style) + render_attempts(report, style) + render_disruptions(report, style) +
         render_ranks(report, style) + render_jobs(jobs, style);
}

std::string without_colors(const std::string& text) {
  static const std::regex color("\x1b\\[[0-9;]*m");
  return std::regex_replace(text, color, "");
}

class EveryRendering : public ::testing::TestWithParam<TerminalStyle> {};

TEST_P(EveryRendering, FitsItsColumnsAndEndsLinesWithoutBlanks) {
  for (const testing::Sample& sample : testing::samples()) {
    std::istringstream in(without_colors(everything(sample.report, GetParam())));
    for (std::string line; std::getline(in, line);) {
      EXPECT_LE(columns_of(line), GetParam().columns) << sample.name << ": " << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << sample.name << ": " << line;
    }
  }
}

TEST_P(EveryRendering, HoldsNoCommandToTheTerminalButColours) {
  for (const testing::Sample& sample : testing::samples()) {
    std::string text = everything(sample.report, GetParam());
    if (GetParam().colors != ColorDepth::kNone) text = without_colors(text);
    std::erase(text, '\n');
    EXPECT_EQ(printable(text, GetParam().unicode), text) << sample.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Styles, EveryRendering,
                         ::testing::Values(TerminalStyle{.columns = 60, .unicode = false},
                                           TerminalStyle{.columns = 60, .unicode = true, .colors = ColorDepth::k16},
                                           TerminalStyle{.columns = 80, .unicode = true},
                                           TerminalStyle{.columns = 103, .unicode = true, .colors = ColorDepth::k256},
                                           TerminalStyle{.columns = 160, .unicode = true, .colors = ColorDepth::k256}));

TEST(Terminal, WidthsOutsideTheRangeAreTakenAsItsEnds) {
  const Report report = testing::sample("three");
  EXPECT_EQ(render_report(report, {.columns = 1}), render_report(report, {.columns = kMinColumns}));
  EXPECT_EQ(render_report(report, {.columns = 5'000}), render_report(report, {.columns = kMaxColumns}));
}

}  // namespace
}  // namespace goodput::report
