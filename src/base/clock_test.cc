// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/manual_clock.h"

namespace goodput {
namespace {

TEST(Clock, BothHandsMoveTogether) {
  const ClockPair first = read_pair(system_clock());
  const ClockPair second = read_pair(system_clock());
  EXPECT_GE(second.boot_ns, first.boot_ns);
  const int64_t drift_ns = (second.wall_ns - first.wall_ns) - (second.boot_ns - first.boot_ns);
  EXPECT_LT(std::abs(drift_ns), 50'000'000);
}

TEST(Clock, BootIdIsStableWithinOneBoot) {
  EXPECT_EQ(read_boot_id().size(), 36u);
  EXPECT_EQ(read_boot_id(), read_boot_id());
}

// Boot readings as a script: the first try is torn apart by 50 µs, the second is tight.
class ScriptedClock final : public Clock {
 public:
  [[nodiscard]] int64_t boot_ns() const override {
    const int64_t value = boot_.front();
    boot_.pop_front();
    return value;
  }
  [[nodiscard]] int64_t wall_ns() const override { return 1'000'000 * ++reading_; }
  mutable std::deque<int64_t> boot_;
  mutable int64_t reading_ = 0;
};

TEST(Clock, ADisturbedReadingIsReadAgain) {
  ScriptedClock clock;
  clock.boot_ = {0, 50'000, 60'000, 60'100};
  const ClockPair pair = read_pair(clock);
  EXPECT_EQ(pair.boot_ns, 60'050);
  EXPECT_EQ(pair.wall_ns, 2'000'000);
}

TEST(Clock, TheNarrowestOfThreeIsKept) {
  ScriptedClock clock;
  clock.boot_ = {0, 9'000, 10'000, 13'000, 20'000, 28'000};
  EXPECT_EQ(read_pair(clock).boot_ns, 11'500);
}

TEST(Clock, ManualWallStepsLeaveBootTimeAlone) {
  ManualClock clock({.boot_ns = 5, .wall_ns = 100});
  clock.advance(10);
  clock.step_wall(-50);
  EXPECT_EQ(clock.boot_ns(), 15);
  EXPECT_EQ(clock.wall_ns(), 60);
}

}  // namespace
}  // namespace goodput
