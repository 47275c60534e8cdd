// What a launch tells, as it happens, and the one thing it asks about the command that it watches.
//
//   LaunchLog log{.attempt_starts = [&](const std::string& id) { return open_journal(id); }, …};
//   supervise(plan, log);
//
// Functions of whoever keeps the record, called in the supervisor's thread. Each must be set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/run/exit.h"

namespace goodput::cli {

struct LaunchLog {
  /// An attempt with this id is about to be launched (empty: the scheduler's variables name it). Returns the folder
  /// that the command is to record in, or nothing when it may choose.
  std::function<std::string(const std::string& attempt_id)> attempt_starts;
  /// Its command has just ended so.
  std::function<void(const Exit& exit)> exited;
  /// What became known about its end before or after: a cause of event::Detail, and words.
  std::function<void(std::string_view cause, std::string_view text)> disrupted;
  /// It will not be started again although it failed.
  std::function<void()> gave_up;
  /// Did rank 0 record a step in it?
  std::function<bool()> made_progress;
};

}  // namespace goodput::cli
