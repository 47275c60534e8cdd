// The log of a job that never ran: start-up, loads, steps that jitter, checkpoints, failures and what follows them.
//
// For trying out the tools, for tests that need a long log, and for benches. The same options and seed give the same
// events.
//
//   Simulation simulation({.steps = 10'000, .mtbf_seconds = 1800});
//   simulation.run([&](std::span<const Event> events) { …; return true; });
//
// Events come by time, as all ranks together recorded them, with positions {0, 0}, {0, 1}, …. One thread. Memory is
// that of the ranks' latest step and of the identities of all attempts, whatever the number of steps. Nothing fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "base/function_ref.h"
#include "event/event.h"
#include "simulate/options.h"

namespace goodput::simulate {

class Simulation {
 public:
  using Sink = FunctionRef<bool(std::span<const event::Event>)>;

  explicit Simulation(const Options& options);
  ~Simulation();

  /// Runs the job from its first to its last event, or until `sink` returns false. Names and details are valid as long
  /// as this object, origins too. Running it again gives the same.
  void run(Sink sink);

 private:
  class Job;
  Options options_;
  std::unique_ptr<Job> job_;
};

}  // namespace goodput::simulate
