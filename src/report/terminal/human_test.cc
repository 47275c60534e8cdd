// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/human.h"

#include <gtest/gtest.h>

namespace goodput::report {
namespace {

TEST(Human, DurationsHaveTwoUnitsOrThreeDigits) {
  struct Case {
    double seconds;
    const char* text;
  };
  for (const Case& c :
       {Case{0, "0s"}, Case{0.00085, "850us"}, Case{0.0996, "99.6ms"}, Case{0.99951, "1.00s"}, Case{8, "8.00s"},
        Case{42.13, "42.1s"}, Case{59.94, "59.9s"}, Case{59.96, "1m"}, Case{245, "4m 5s"}, Case{3'599.6, "1h"},
        Case{18'420, "5h 7m"}, Case{86'400, "24h"}, Case{172'790, "2d"}, Case{273'600, "3d 4h"},
        Case{86'400.0 * 250, "250d"}, Case{86'400.0 * 1'250, "1,250d"}, Case{-90, "-1m 30s"}}) {
    EXPECT_EQ(human_duration(c.seconds), c.text) << c.seconds;
  }
}

TEST(Human, OnlyWhatIsWholeShowsAsHundredAndOnlyNothingAsZero) {
  EXPECT_EQ(human_percent(100), "100.0%");
  EXPECT_EQ(human_percent(99.97), ">99.9%");
  EXPECT_EQ(human_percent(99.94), "99.9%");
  EXPECT_EQ(human_percent(0), "0.0%");
  EXPECT_EQ(human_percent(0.0001), "<0.1%");
  EXPECT_EQ(human_percent(0.05), "0.1%");
}

TEST(Human, CountsAreGroupedByThousands) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1'000), "1,000");
  EXPECT_EQ(human_count(71'999'000), "71,999,000");
  EXPECT_EQ(human_count(-1'000), "-1,000");
  EXPECT_EQ(human_count(-100), "-100");
}

TEST(Human, MoneyHasCentsWhileTheyMatter) {
  EXPECT_EQ(human_money(12'345.6, "USD", true), "$12,346");
  EXPECT_EQ(human_money(99.99, "USD", true), "$99.99");
  EXPECT_EQ(human_money(99.996, "USD", true), "$100");
  EXPECT_EQ(human_money(-3.5, "EUR", true), "-€3.50");
  EXPECT_EQ(human_money(3.5, "EUR", false), "EUR 3.50");
  EXPECT_EQ(human_money(3.5, "\x1b[31m", true), "\\x1b[31m 3.50");
}

TEST(Human, InstantsOfLongSpansHaveNoSeconds) {
  EXPECT_EQ(human_instant(1'767'225'605'000'000'000), "2026-01-01 00:00:05");
  EXPECT_EQ(human_instant(1'767'225'605'000'000'000, 3'600'000'000'000), "2026-01-01 00:00");
}

TEST(Human, SignalsHaveNames) {
  EXPECT_EQ(human_signal(9), "SIGKILL");
  EXPECT_EQ(human_signal(999), "signal 999");
}

}  // namespace
}  // namespace goodput::report
