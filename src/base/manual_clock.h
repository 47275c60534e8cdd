// Clocks that a test turns by hand.
//
//   ManualClock clock;
//   clock.advance(3 * kSecond);          // time passes on both
//   clock.step_wall(-3'600 * kSecond);   // somebody sets the wall clock back an hour
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.h"

namespace goodput {

/// Thread-safe: readers see some state between two turns.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(ClockPair start = {.boot_ns = 1'000'000'000, .wall_ns = 1'767'225'600'000'000'000})
      : boot_ns_(start.boot_ns), ahead_ns_(start.wall_ns - start.boot_ns) {}

  void advance(int64_t duration_ns) { boot_ns_ += duration_ns; }
  void step_wall(int64_t by_ns) { ahead_ns_ += by_ns; }

  [[nodiscard]] int64_t boot_ns() const override { return boot_ns_; }
  [[nodiscard]] int64_t wall_ns() const override { return boot_ns_ + ahead_ns_; }

 private:
  std::atomic<int64_t> boot_ns_;
  std::atomic<int64_t> ahead_ns_;  // wall less boot time
};

}  // namespace goodput
