// SPDX-License-Identifier: Apache-2.0
#include "doctor/event_survey.h"

#include <gtest/gtest.h>

#include <vector>

namespace goodput::doctor {
namespace {

using event::Kind;
constexpr int64_t kSecond = 1'000'000'000;

/// A log that is told second by second.
class EventSurvey : public ::testing::Test {
 protected:
  void at(double seconds, Kind kind, int64_t step = 0, uint8_t flags = 0) {
    events_.push_back({.time_ns = static_cast<int64_t>(seconds * kSecond),
                       .step = step,
                       .origin = &origin_,
                       .kind = kind,
                       .flags = flags});
  }
  void step(double seconds, int64_t step) { at(seconds, Kind::kStepStart, step); }
  void load(double from, double to, uint8_t flags = 0) {
    at(from, Kind::kDataLoadingStart, 0, flags);
    at(to, Kind::kDataLoadingEnd);
  }
  Survey survey() {
    EventSurveyor surveyor;
    surveyor.push(events_);
    return surveyor.survey();
  }

  event::Origin origin_{.attempt_id = "one"};
  std::vector<event::Event> events_;
};

TEST_F(EventSurvey, LoadsRightBeforeStepsAreAdded) {
  step(0, 0);
  load(1, 9);
  step(10, 1);
  load(11, 19.5);
  step(20, 2);
  EXPECT_EQ(survey().loads_before_steps, 2);
  EXPECT_EQ(survey().loads_before_steps_ns, 16'500'000'000);
  EXPECT_EQ(survey().intervals_ns, 20 * kSecond);
}

TEST_F(EventSurvey, LoadsThatAreMarkedEarlyOrElsewhereAreNot) {
  load(0, 5);  // before the first step
  step(10, 0);
  load(11, 19, event::kBlocking);
  step(20, 1);
  load(21, 25);
  at(26, Kind::kCustomStart);  // something follows the load before the step does
  at(27, Kind::kCustomEnd);
  step(30, 2);
  at(31, Kind::kDataLoadingStart);  // still open at the step
  step(40, 3);
  EXPECT_EQ(survey().loads_before_steps, 0);
  EXPECT_EQ(survey().intervals_ns, 30 * kSecond);
}

TEST_F(EventSurvey, HeartbeatsBetweenLoadAndStepChangeNothing) {
  step(0, 0);
  load(1, 9);
  at(9.5, Kind::kHeartbeat);
  step(10, 1);
  EXPECT_EQ(survey().loads_before_steps, 1);
}

TEST_F(EventSurvey, WideIntervalsAreThoseOfSeveralSteps) {
  step(0, 0);
  step(10, 10);
  step(20, 11);
  step(30, 41);
  EXPECT_EQ(survey().step_intervals, 3);
  EXPECT_EQ(survey().wide_intervals, 2);
  EXPECT_EQ(survey().widest_interval, 30);
}

TEST_F(EventSurvey, NoIntervalCrossesAnAttempt) {
  step(0, 0);
  step(10, 1);
  at(500, Kind::kJobStart);
  step(510, 50);
  event::Origin second{.attempt_id = "two"};
  events_.push_back({.time_ns = 600 * kSecond, .step = 90, .origin = &second, .kind = Kind::kStepStart});
  EXPECT_EQ(survey().step_intervals, 1);
  EXPECT_EQ(survey().intervals_ns, 10 * kSecond);
  EXPECT_EQ(survey().count(Kind::kStepStart), 4);
}

TEST_F(EventSurvey, OtherProcessesAndLaunchersDoNotStep) {
  step(0, 0);
  const event::Origin rank{.attempt_id = "one", .process_index = 3};
  const event::Origin launcher{.attempt_id = "one", .role = "launcher"};
  for (const event::Origin* origin : {&rank, &launcher}) {
    events_.push_back({.time_ns = kSecond, .step = 7, .origin = origin, .kind = Kind::kStepStart});
  }
  EXPECT_EQ(survey().step_intervals, 0);
}

}  // namespace
}  // namespace goodput::doctor
