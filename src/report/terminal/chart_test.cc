// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/chart.h"

#include <gtest/gtest.h>

#include "report/testing/samples.h"

namespace goodput::report {
namespace {

constexpr TerminalStyle kPlain{.columns = 80, .unicode = true, .colors = ColorDepth::kNone};
constexpr TerminalStyle kAscii{.columns = 80, .unicode = false, .colors = ColorDepth::kNone};
constexpr TerminalStyle kColor{.columns = 80, .unicode = true, .colors = ColorDepth::k256};
constexpr int64_t kSecondNs = 1'000'000'000;

TEST(StackedBar, CellsAreDividedAsTheTimeIs) {
  const Shares shares = {{"PRODUCTIVE", 60}, {"STALLED", 30}, {"OTHER", 10}};
  EXPECT_EQ(stacked_bar(shares, 10, kAscii).render(kAscii), "######ZZZ.");
  EXPECT_EQ(stacked_bar(shares, 10, kPlain).render(kPlain), "██████ZZZ.");
  EXPECT_EQ(stacked_bar({}, 10, kPlain).render(kPlain), "");
  EXPECT_EQ(stacked_bar({{"OTHER", 0}}, 10, kPlain).render(kPlain), "");
}

TEST(StackedBar, ColourDividesACellIntoEighths) {
  const Shares shares = {{"PRODUCTIVE", 5}, {"STALLED", 3}};
  EXPECT_EQ(stacked_bar(shares, 1, kColor).render(kColor), "\x1b[38;5;35;48;5;162m▋\x1b[0m");
}

TEST(Shares, ProductiveIsFirstThenTheLongestAndCustomEventsAreOne) {
  Report report;
  report.goodput_seconds = 1;
  report.badput_seconds = {{"OTHER", 2}, {"STALLED", 5}, {"CHECKPOINT_SAVE", 0}};
  report.custom_badput_seconds = {{"A", 2}, {"B", 1.5}};
  EXPECT_EQ(shares_of(report),
            (Shares{{"PRODUCTIVE", 1}, {"STALLED", 5}, {"CUSTOM_BADPUT_EVENTS", 3.5}, {"OTHER", 2}}));
}

TEST(Ribbon, ResamplingKeepsTheSecondsOfEveryClass) {
  const Report report = testing::sample("thirty");
  for (const int columns : {7, 58, 160, 200}) {
    SecondsByName sums;
    for (const SecondsByName& cell : make_ribbon(report, columns).cells) {
      for (const auto& [name, seconds] : cell) sums[name] += seconds;
    }
    EXPECT_NEAR(sums["PRODUCTIVE"], report.goodput_seconds, 1e-3) << columns;
    EXPECT_NEAR(sums["WASTED_PROGRESS"], report.badput_seconds.at("WASTED_PROGRESS"), 1e-3) << columns;
  }
}

TEST(Ribbon, WithoutATimelineAttemptsAndTheGapsBetweenThemAreDrawn) {
  Report report;
  report.end_ns = 100 * kSecondNs;
  report.attempts.push_back(
      {.end_ns = 40 * kSecondNs, .goodput_seconds = 30, .badput_seconds = {{"PROGRAM_STARTUP", 10}}});
  report.attempts.push_back(
      {.start_ns = 60 * kSecondNs, .end_ns = 100 * kSecondNs, .badput_seconds = {{"STALLED", 40}}});
  const std::vector<Line> lines = draw_ribbon(make_ribbon(report, 10), kAscii);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].render(kAscii), "####--ZZZZ");
}

TEST(Ribbon, MarksThatWouldTouchAreLeftOut) {
  Ribbon ribbon{.end_ns = 100, .cells = {}};
  ribbon.cells.resize(20);
  std::vector<Attempt> attempts;
  for (const int64_t start : {0, 8, 15, 95}) {
    attempts.push_back({.index = static_cast<int64_t>(attempts.size()), .start_ns = start});
  }
  EXPECT_EQ(draw_attempt_marks(ribbon, attempts, kAscii).render(kAscii), "^0 ^2");
}

}  // namespace
}  // namespace goodput::report
