// The journals of a launcher: one for each attempt, with role "launcher", beside that of the attempt's rank 0.
//
//   LaunchJournal journal({.job = "llama-7b", .directory = folder});
//   return supervise(plan, journal.log());
//
// An exit becomes a process exit, an OOM kill and a notice of a preemption become annotations of a disruption, and
// giving up becomes the end of a failed job. Recording never fails a launch: what cannot be written is counted, as
// everywhere. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <goodput/recorder.h>

#include <string>

#include "cli/run/launch_log.h"

namespace goodput::cli {

class LaunchJournal {
 public:
  /// `role` and `attempt_id` are set by this class.
  explicit LaunchJournal(const RecorderOptions& options) : options_(options) {}

  /// Valid as long as this.
  LaunchLog log();

 private:
  std::string start_attempt(const std::string& attempt_id);
  void record_exit(const Exit& exit);
  [[nodiscard]] bool made_progress() const;

  RecorderOptions options_;
  Recorder recorder_;
  std::string attempt_id_;
};

}  // namespace goodput::cli
