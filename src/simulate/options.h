// What a simulated job is like. Defaults are a small healthy job; 0 switches a thing off.
//
//   Options options{.steps = 100'000, .ranks = 4, .mtbf_seconds = 4 * 3600};
//
// Plain values. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "event/event.h"

namespace goodput::simulate {

/// How often each kind of failure is drawn, relative to the others.
struct FailureShares {
  double crash = 3;       ///< an exception: a failed job end, exit code 1
  double kill = 2;        ///< SIGKILL out of nothing (OOM, a lost host): nothing is recorded by the process
  double preemption = 2;  ///< a notice, a last checkpoint, SIGTERM
  double hang = 1;        ///< alive without progress, until a watchdog kills it
  double rollback = 1;    ///< back to the last checkpoint without a restart, as after a spike of the loss
};

struct Options {
  uint64_t seed = 1;
  int64_t start_ns = 1'767'225'600 * event::kNanosecondsPerSecond;  ///< 2026-01-01
  int64_t steps = 1'000;                                            ///< numbers 0 to steps - 1
  int64_t ranks = 1;
  bool complete = true;    ///< the job ends; else the log stops after its last step
  bool job_events = true;  ///< job starts and ends
  bool origins = true;     ///< events say which attempt, rank and host they are of; needed for several ranks
  bool launcher = true;    ///< a launcher sees how processes exit; needs `origins`

  double init_seconds = 12;
  double prep_seconds = 25;
  double restore_seconds = 20;  ///< in training prep, from the second attempt on
  double compile_seconds = 40;  ///< what the first step of an attempt takes longer

  double step_seconds = 0.35;
  double step_jitter = 0.01;  ///< standard deviation, as a share of the step; Gaussian
  double slow_steps = 0.001;  ///< share of steps that take 2 to 5 times as long
  bool step_ends = false;
  double tokens_per_step = 0;

  double load_seconds = 0.01;  ///< before every step
  int64_t checkpoint_every = 200;
  double checkpoint_seconds = 2.5;  ///< blocking
  bool statistics = false;          ///< checkpoints as Orbax tells of them, instead of as intervals
  std::string checkpoint_directory = "gs://bucket/run/checkpoints";
  int64_t eval_every = 0;
  double eval_seconds = 15;
  std::string eval_name = "eval";
  double heartbeat_seconds = 0;

  double mtbf_seconds = 0;  ///< mean time between failures, counted while steps run; 0: none
  FailureShares failures = {};
  double recovery_seconds = 180;  ///< from a death to the next start
  double hang_seconds = 1'200;
};

/// Steps and nothing else, 350 ms apart with a Gaussian jitter of 1 %: what bytes per event are measured on.
inline Options reference_stream(int64_t steps) {
  return {.steps = steps,
          .complete = false,
          .job_events = false,
          .origins = false,
          .launcher = false,
          .init_seconds = 0,
          .prep_seconds = 0,
          .compile_seconds = 0,
          .slow_steps = 0,
          .load_seconds = 0,
          .checkpoint_every = 0};
}

/// A job without failures, with a load before every step and a custom event after every hundredth: what accounting is
/// measured on.
inline Options measured_job(int64_t steps) {
  return {.steps = steps,
          .origins = false,
          .launcher = false,
          .slow_steps = 0,
          .checkpoint_every = 0,
          .eval_every = 100,
          .eval_seconds = 1};
}

}  // namespace goodput::simulate
