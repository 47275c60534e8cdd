// SPDX-License-Identifier: Apache-2.0
#include "cli/testing/recorded_job.h"

namespace goodput::cli::testing {

void RecordedJob::eventful_job() {
  using event::Kind;
  const auto at = [](double seconds) { return kBoot + static_cast<int64_t>(seconds * 1e9); };
  Journal first(folder_.path(), {.attempt_id = "slurm.7", .id = 1});
  first.define(1, "eval");
  first.define(2, "gs://b/ckpt");
  first.define(3, "preempted");
  first.define(4, "the host goes \"away\"");
  first.append({.kind = Kind::kJobStart, .boot_ns = at(0)});
  first.append({.kind = Kind::kTrainingPrepStart, .boot_ns = at(1)});
  first.append({.kind = Kind::kCheckpointRestore,
                .flags = event::kHasStep,
                .name = 2,
                .boot_ns = at(3),
                .value = 0,
                .has_wall_time = true,
                .wall_ns = first.wall_ns(at(1.5)),
                .duration_ns = kSecond});
  first.append({.kind = Kind::kTrainingPrepEnd, .boot_ns = at(4)});
  steps(first, 0, 40, at(5));
  first.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = at(46)});
  first.append({.kind = Kind::kCustomEnd, .name = 1, .boot_ns = at(49.25)});
  first.append({.kind = Kind::kStepStart, .boot_ns = at(50), .value = 40, .tokens = 4096});
  first.append({.kind = Kind::kDisruption, .name = 3, .boot_ns = at(51), .value = 4});
  first.alive_at(at(52));
  // A second job start in the same process.
  first.append({.kind = Kind::kJobStart, .boot_ns = at(100)});
  steps(first, 30, 60, at(103));
  first.append({.kind = Kind::kSliceCounts, .boot_ns = at(134), .value = journal::pack_slices({3, 4, 4})});
  first.alive_at(at(140));
  first.write();

  Journal launcher(folder_.path(), {.attempt_id = "slurm.7", .role = "launcher", .pid = 99, .id = 2});
  launcher.append({.kind = Kind::kProcessExit, .flags = event::kSignal, .boot_ns = at(141), .value = 9});
  launcher.write();

  Journal rank(folder_.path(), {.attempt_id = "slurm.7", .host = "node-4", .process_index = 1, .id = 3});
  rank.append({.kind = Kind::kCheckpointSave, .boot_ns = at(20.5), .value = 14, .duration_ns = kSecond / 2});
  steps(rank, 0, 40, at(5.001));
  rank.write();

  Journal second = attempt({.attempt_id = "slurm.8", .host = "node-5", .id = 4}, 300, 50);
  second.append({.kind = Kind::kJobEnd, .boot_ns = at(315)});
  second.write();
}

std::string RecordedJob::report(std::vector<std::string> of, int64_t now_seconds) {
  of.insert(of.begin(), "report");
  const int64_t now = kWall / kSecond + now_seconds;
  of.insert(of.end(), {"--json", "--now", std::to_string(now), "--window", "100", "--window", "450"});
  const Outcome outcome = run(of);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

}  // namespace goodput::cli::testing
