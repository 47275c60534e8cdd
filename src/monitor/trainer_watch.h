// Sees the process that records a job die, where that process is on this machine.
//
//   TrainerWatch watch;
//   watch.choose(job.log());                           // after every poll
//   if (watch.has_died()) record_exit(watch.attempt_id(), clock.wall_ns());
//
// By a handle of the process, not by its number, which may be used again. Where the system has none, or the process is
// elsewhere, nothing is ever seen and the journal's silence has to tell. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "journal/job_log.h"

namespace goodput::monitor {

class TrainerWatch {
 public:
  TrainerWatch() = default;
  ~TrainerWatch();
  TrainerWatch(const TrainerWatch&) = delete;
  TrainerWatch& operator=(const TrainerWatch&) = delete;

  /// Watches the rank 0 that opened its journal last. A process that has died while its journal is held was a
  /// stranger.
  void choose(const journal::JobLog& log);
  /// Whether the process that was chosen last has ended. Once: the next choice forgets it.
  [[nodiscard]] bool has_died() const;
  /// Whether the rank 0 that opened its journal last still holds it.
  [[nodiscard]] static bool is_recording(const journal::JobLog& log);
  /// Of the process that is watched, as its journal names it.
  [[nodiscard]] const std::string& attempt_id() const { return attempt_id_; }
  /// How many processes were chosen, one after another.
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  void close();

  int process_ = -1;  // a pidfd
  journal::JournalId journal_id_{};
  std::string attempt_id_;
  uint64_t count_ = 0;
};

}  // namespace goodput::monitor
