// Long steps that come at regular numbers: the mark of something that the loop does every so many steps and that nobody
// records, such as an evaluation.
//
//   std::vector<LongStep> long_steps = …;                       // those far beyond a typical step
//   if (const auto stall = find_regular_stall(long_steps)) …    // stall->period == 500
//
// Steps that are long at random, or because all are, have no period. Pure; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ledger/fold_state.h"

namespace goodput::doctor {

struct LongStep {
  int64_t step = 0;
  double excess_seconds = 0;  ///< beyond a typical step
};

struct RegularStall {
  int64_t period = 0;  ///< in steps
  int64_t first_step = 0;
  int64_t count = 0;
  double mean_seconds = 0;  ///< beyond a typical step
  double total_seconds = 0;
};

/// Fewer repetitions are chance.
constexpr int64_t kLeastRepetitions = 4;
/// Of the places where it should have come, the share at which it did: restarts and lost records hide some.
constexpr double kLeastCoverage = 0.75;

/// The period that explains most of the excess; empty where none does. By rising step numbers.
[[nodiscard]] std::optional<RegularStall> find_regular_stall(std::span<const LongStep> steps);

/// Keeps the long ones of all steps, the latest 10,000.
class LongSteps {
 public:
  explicit LongSteps(double typical_seconds) : typical_seconds_(typical_seconds) {}
  void push(int64_t step, const ledger::StepTime& time);
  /// By rising step numbers, each once.
  [[nodiscard]] std::vector<LongStep> take();

 private:
  double typical_seconds_;
  std::vector<LongStep> steps_;
};

}  // namespace goodput::doctor
