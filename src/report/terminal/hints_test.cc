// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/testing/samples.h"

namespace goodput::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Hints, TheMostWorthwhileComesFirst) {
  const std::vector<Hint> found = hints(testing::sample("thirty"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].text, StartsWith("It took 8m 36s until a new process ran"));
  EXPECT_THAT(found[1].text, StartsWith("Each disruption threw away 5m 14s of steps"));
  EXPECT_GT(found[0].percent, found[1].percent);
}

TEST(Hints, AFirstMinuteGivesNone) { EXPECT_THAT(hints(testing::sample("starting")), IsEmpty()); }

TEST(Hints, AJobWithoutStepsIsToldHowToRecordThem) {
  const std::vector<Hint> found = hints(testing::sample("failed"));
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found[0].text, HasSubstr("rec.record_step(i)"));
  EXPECT_LE(found.size(), kMostHints + 1);
}

TEST(Hints, ADownJobIsToldToBeRestarted) {
  Report report = testing::sample("thirty");
  report.status = JobStatus::kDown;
  EXPECT_THAT(hints(report)[0].text, HasSubstr("goodput run"));
}

TEST(Hints, SlowStepsCountAsALossBesideBadput) {
  Report report;
  report.elapsed_seconds = 10'000;
  report.last_step = 100;
  report.goodput_percent = 99;
  report.ideal_goodput_percent = 90;
  const std::vector<Hint> found = hints(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].text, StartsWith("Slow and uneven steps"));
  EXPECT_DOUBLE_EQ(found[0].percent, 9);
}

}  // namespace
}  // namespace goodput::report
