// What an answer may be asked to judge differently.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "ledger/limits.h"

namespace goodput::ledger {

/// An exact decimal factor: value / 10^6.
struct Factor {
  uint64_t millionths = 10'000'000;

  /// The nearest to a number from 0 on.
  static Factor of(double value) { return {static_cast<uint64_t>(std::llround(value * 1e6))}; }
};

/// How much a ledger keeps. No answer depends on it: tests make everything small.
struct Sizes {
  // The tail is read again for each answer (25 ns an event) and takes late events for nothing, so it is kept between
  // these sizes; a large batch is settled 8,192 events at a time, so that reading the rest again costs little.
  size_t tail_most = 2048;
  size_t tail_least = 1024;
  size_t batch_most = 6144;
  size_t stretches = kMaxStretches;           ///< at most; neighbours are joined until an eighth is free
  size_t exact_step_times = kExactStepTimes;  ///< up to here each step time is known (and figures exact)
  size_t held_step_times = 4096;              ///< of longer jobs, of the newest steps: the deviation asks for 1,100
};

struct Options {
  int64_t dead_after_ns = 60 * kNanosecondsPerSecond;   ///< rule 1: silence after which a job with heartbeats is dead
  Factor stall_factor;                                  ///< rule 10; 0 turns the rule off
  int64_t stall_floor_ns = 60 * kNanosecondsPerSecond;  ///< rule 10; 0 turns the rule off
  Sizes sizes;
  friend bool operator==(const Options& a, const Options& b) {
    return a.dead_after_ns == b.dead_after_ns && a.stall_factor.millionths == b.stall_factor.millionths &&
           a.stall_floor_ns == b.stall_floor_ns;
  }
};

}  // namespace goodput::ledger
