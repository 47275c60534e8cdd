// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "event/payload_writer.h"

namespace goodput::simulate {
namespace {

using event::Event;
using event::Kind;

constexpr double kSecond = 1e9;

class SimulationTest : public ::testing::Test {
 protected:
  const std::vector<Event>& simulate(const Options& options) {
    simulation_ = std::make_unique<Simulation>(options);
    events_.clear();
    simulation_->run([&](std::span<const Event> events) {
      events_.insert(events_.end(), events.begin(), events.end());
      return true;
    });
    return events_;
  }

  size_t count(Kind kind) const { return static_cast<size_t>(std::ranges::count(events_, kind, &Event::kind)); }

  std::string lines() const {
    std::string text;
    event::PayloadWriter writer("j");
    for (const Event& event : events_) writer.append(text, event);
    return text;
  }

  std::unique_ptr<Simulation> simulation_;
  std::vector<Event> events_;
};

/// Every thing that can be simulated, at once.
Options everything() {
  return {.seed = 7,
          .steps = 3'000,
          .ranks = 3,
          .step_ends = true,
          .tokens_per_step = 4096,
          .eval_every = 250,
          .heartbeat_seconds = 30,
          .mtbf_seconds = 60};
}

TEST_F(SimulationTest, ComesByTimeWithPositionsInOrder) {
  simulate(everything());
  for (size_t i = 0; i < events_.size(); ++i) {
    ASSERT_EQ(events_[i].position, (event::Position{0, i}));
    ASSERT_GE(events_[i].time_ns, events_[i == 0 ? 0 : i - 1].time_ns) << i;
  }
}

TEST_F(SimulationTest, EveryRankRecordsInItsOwnOrder) {
  simulate(everything());
  std::map<int64_t, std::map<Kind, int>> open;
  for (const Event& e : events_) {
    if (!event::is_start(e.kind) && !event::is_end(e.kind)) continue;
    int& depth = open[e.process_index()][event::start_of(e.kind)];
    depth += event::is_start(e.kind) ? 1 : -1;
    ASSERT_GE(depth, 0) << "an end without a start on rank " << e.process_index();
    ASSERT_LE(depth, 1);
  }
}

TEST_F(SimulationTest, TheSameSeedGivesTheSameLog) {
  simulate(everything());
  const std::string once = lines();
  Options other = everything();
  simulate(other);
  EXPECT_EQ(lines(), once);
  other.seed = 8;
  simulate(other);
  EXPECT_NE(lines(), once);
}

TEST_F(SimulationTest, RunningItAgainGivesTheSame) {
  simulate(everything());
  const std::string once = lines();
  events_.clear();
  simulation_->run([&](std::span<const Event> events) {
    events_.insert(events_.end(), events.begin(), events.end());
    return true;
  });
  EXPECT_EQ(lines(), once);
}

TEST_F(SimulationTest, FailuresOfEverySortHappenAndAreRecoveredFrom) {
  simulate(everything());
  std::set<std::string> ends;
  int64_t highest = -1;
  size_t rollbacks = 0;
  int64_t before = -1;
  for (const Event& e : events_) {
    if (e.kind == Kind::kDisruption) ends.emplace(e.detail->cause);
    if (e.kind == Kind::kJobEnd && e.has(event::kFailed)) ends.emplace("crash");
    if (e.kind == Kind::kProcessExit && e.has(event::kSignal)) ends.emplace("signal " + std::to_string(e.exit_value));
    if (e.process_index() != 0) continue;
    if (e.kind == Kind::kJobStart) before = -1;
    if (e.kind != Kind::kStepStart) continue;
    if (before >= 0 && e.step <= before) ++rollbacks;
    before = e.step;
    highest = std::max(highest, e.step);
  }
  EXPECT_EQ(ends, (std::set<std::string>{"preempted", "hang", "crash", "signal 9", "signal 15"}));
  EXPECT_GT(rollbacks, 0U);
  EXPECT_EQ(highest, 2'999);
  EXPECT_GT(count(Kind::kCheckpointRestoreStart), 3U);
  EXPECT_EQ(events_.back().kind, Kind::kProcessExit);
  EXPECT_EQ(events_.back().exit_value, 0);
}

TEST_F(SimulationTest, AfterARestartStepsGoOnFromTheLatestCheckpoint) {
  simulate(everything());
  int64_t saved = -1;
  bool restarted = false;
  size_t restarts = 0;
  for (const Event& e : events_) {
    if (e.process_index() != 0) continue;
    if (e.kind == Kind::kCheckpointSaveEnd) saved = e.step;
    if (e.kind == Kind::kJobStart) restarted = true;
    if (e.kind == Kind::kStepStart && restarted) {
      EXPECT_EQ(e.step, saved + 1);
      restarted = false;
      ++restarts;
    }
  }
  EXPECT_GT(restarts, 5U);
}

TEST_F(SimulationTest, TheReferenceStreamIsStepsWithOnePercentOfJitter) {
  simulate(reference_stream(20'000));
  ASSERT_EQ(events_.size(), 20'000U);
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < events_.size(); ++i) {
    ASSERT_EQ(events_[i].kind, Kind::kStepStart);
    ASSERT_EQ(events_[i].step, static_cast<int64_t>(i));
    ASSERT_EQ(events_[i].origin, nullptr);
    if (i == 0) continue;
    const double seconds = static_cast<double>(events_[i].time_ns - events_[i - 1].time_ns) / kSecond;
    sum += seconds;
    squares += seconds * seconds;
  }
  const double n = static_cast<double>(events_.size() - 1);
  const double mean = sum / n;
  EXPECT_NEAR(mean, 0.35, 0.0002);
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), 0.0035, 0.0001);
}

TEST_F(SimulationTest, TheMeasuredJobHasALoadForEveryStepAndAnEventForEveryHundredth) {
  simulate(measured_job(10'000));
  EXPECT_EQ(count(Kind::kStepStart), 10'000U);
  EXPECT_EQ(count(Kind::kDataLoadingStart), 10'000U);
  EXPECT_EQ(count(Kind::kDataLoadingEnd), 10'000U);
  EXPECT_EQ(count(Kind::kCustomStart), 100U);
  EXPECT_EQ(count(Kind::kCustomEnd), 100U);
  EXPECT_EQ(count(Kind::kJobStart), 1U);
  EXPECT_EQ(count(Kind::kJobEnd), 1U);
}

TEST_F(SimulationTest, ALogThatIsNotCompleteEndsWithAStep) {
  simulate({.steps = 10, .complete = false});
  EXPECT_EQ(events_.back().kind, Kind::kStepStart);
  EXPECT_EQ(events_.back().step, 9);
}

TEST_F(SimulationTest, StatisticsAreEntriesWithDurations) {
  simulate({.steps = 400, .statistics = true});
  EXPECT_EQ(count(Kind::kCheckpointSave), 2U);
  EXPECT_EQ(count(Kind::kCheckpointSaveStart), 0U);
  for (const Event& e : events_) {
    EXPECT_EQ(e.duration_ns > 0, e.kind == Kind::kCheckpointSave);
  }
}

TEST_F(SimulationTest, AJobThatOnlyFailsEndsAllTheSame) {
  Options options = everything();
  options.steps = 500;
  options.ranks = 1;
  options.mtbf_seconds = 0.01;
  options.failures = {.crash = 0, .kill = 0, .preemption = 0, .hang = 0, .rollback = 1};
  simulate(options);
  EXPECT_EQ(events_.back().exit_value, 0);
}

TEST_F(SimulationTest, StopsWhenAsked) {
  size_t calls = 0;
  Simulation({.steps = 1'000'000}).run([&](std::span<const Event>) { return ++calls < 3; });
  EXPECT_EQ(calls, 3U);
}

}  // namespace
}  // namespace goodput::simulate
