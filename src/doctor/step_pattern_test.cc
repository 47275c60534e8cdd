// SPDX-License-Identifier: Apache-2.0
#include "doctor/step_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace goodput::doctor {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

std::vector<LongStep> every(int64_t period, int64_t first, int count, double seconds) {
  std::vector<LongStep> steps;
  for (int i = 0; i < count; ++i) steps.push_back({first + i * period, seconds});
  return steps;
}

std::vector<LongStep> merged(std::vector<LongStep> steps, const std::vector<LongStep>& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return steps;
}

TEST(StepPattern, FindsThePeriodOfAnEvaluation) {
  const auto stall = find_regular_stall(every(500, 499, 9, 120));
  ASSERT_TRUE(stall.has_value());
  EXPECT_EQ(stall->period, 500);
  EXPECT_EQ(stall->first_step, 499);
  EXPECT_EQ(stall->count, 9);
  EXPECT_DOUBLE_EQ(stall->mean_seconds, 120);
  EXPECT_DOUBLE_EQ(stall->total_seconds, 1080);
}

TEST(StepPattern, FindsItAmongStepsThatAreLongAtRandom) {
  std::mt19937 random(7);
  std::vector<LongStep> noise;
  for (int i = 0; i < 15; ++i) noise.push_back({static_cast<int64_t>(random() % 4'500), 3});
  const auto stall = find_regular_stall(merged(every(500, 0, 9, 120), noise));
  ASSERT_TRUE(stall.has_value());
  EXPECT_EQ(stall->period, 500);
}

TEST(StepPattern, OfTwoTheOneThatTakesMoreIsNamed) {
  const auto stall = find_regular_stall(merged(every(100, 50, 40, 5), every(1000, 999, 4, 600)));
  ASSERT_TRUE(stall.has_value());
  EXPECT_EQ(stall->period, 1000);
  EXPECT_EQ(stall->count, 4);
}

TEST(StepPattern, AFewMissingTurnsDoNotHideIt) {
  std::vector<LongStep> steps = every(500, 0, 12, 60);
  steps.erase(steps.begin() + 7);
  steps.erase(steps.begin() + 3);
  const auto stall = find_regular_stall(steps);
  ASSERT_TRUE(stall.has_value());
  EXPECT_EQ(stall->period, 500);
  EXPECT_EQ(stall->count, 10);
}

TEST(StepPattern, WhatIsNotRegularHasNoPeriod) {
  std::mt19937 random(11);
  std::vector<LongStep> noise;
  int64_t step = 0;
  for (int i = 0; i < 300; ++i) noise.push_back({step += 1 + static_cast<int64_t>(random() % 997), 30});
  EXPECT_FALSE(find_regular_stall(noise).has_value());
  EXPECT_FALSE(find_regular_stall(every(500, 0, 3, 60)).has_value());  // chance
  EXPECT_FALSE(find_regular_stall(every(1, 0, 50, 60)).has_value());   // a slow stretch
  EXPECT_FALSE(find_regular_stall({}).has_value());
}

TEST(StepPattern, StepsAreLongBeyondTwiceATypicalOne) {
  LongSteps steps(2.0);
  steps.push(7, {.ns = 4 * kSecond});
  steps.push(9, {.ns = 5 * kSecond});
  steps.push(8, {.ns = 100 * kSecond, .steps = 10});  // ten steps in one record: 80 s too long
  steps.push(9, {.ns = 5 * kSecond});
  const std::vector<LongStep> kept = steps.take();
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].step, 8);
  EXPECT_DOUBLE_EQ(kept[0].excess_seconds, 80);
  EXPECT_EQ(kept[1].step, 9);
  EXPECT_DOUBLE_EQ(kept[1].excess_seconds, 3);
}

TEST(StepPattern, OfManyLongStepsTheLatestAreKept) {
  LongSteps steps(1.0);
  for (int64_t step = 0; step < 65'000; ++step) steps.push(step, {.ns = 9 * kSecond});
  const std::vector<LongStep> kept = steps.take();
  EXPECT_EQ(kept.size(), 10'000U);
  EXPECT_EQ(kept.back().step, 64'999);
}

}  // namespace
}  // namespace goodput::doctor
