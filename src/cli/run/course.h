// The course of a launch: what comes next, given what happened and when. All decisions of `goodput run` are made here.
//
//   Course course(RestartPolicy({}), 30 * kSecond);
//   course.launched();
//   if (course.take_signal(SIGTERM, now)) kill(child, SIGTERM);     // from here on, grace counts
//   const Verdict verdict = course.ended({.signal = SIGTERM}, false, later);
//   while (course.phase() == Course::Phase::kClearing) …            // end what the child left, then course.cleared()
//
// Pure: times are nanoseconds of any clock that never steps, handed in by the caller (Supervisor). One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "cli/run/restart_policy.h"

namespace goodput::cli {

/// True of signals that tell the launcher to stop: then nothing is started again.
bool is_stop_signal(int signal);

class Course {
 public:
  enum class Phase : uint8_t {
    kLaunch,    ///< start the command now
    kRunning,   ///< it runs
    kClearing,  ///< it is gone; end the processes that it left
    kBackOff,   ///< nothing runs until deadline_ns()
    kDone,      ///< leave with exit_code()
  };

  /// Processes that SIGKILL does not end hang in the kernel, on a device or a dead file server. After so long they are
  /// left to themselves.
  static constexpr int64_t kKillPatienceNs = 10'000'000'000;

  Course(const RestartPolicy& policy, int64_t grace_ns) : policy_(policy), grace_ns_(grace_ns) {}

  [[nodiscard]] Phase phase() const { return phase_; }
  /// When advance() will change something by itself; nothing: never.
  [[nodiscard]] std::optional<int64_t> deadline_ns() const;
  /// Grace is over: SIGKILL for what runs or was left.
  [[nodiscard]] bool is_killing() const { return is_killing_; }
  [[nodiscard]] bool is_stopping() const { return is_stopping_; }
  /// As a shell would tell the last end.
  [[nodiscard]] int exit_code() const { return exit_code_; }

  void launched() { phase_ = Phase::kRunning; }
  /// The launcher cannot go on (no process to be had): done, without another try.
  void abandon(int exit_code);
  /// A signal reached the launcher. True when the command must get it too.
  bool take_signal(int signal, int64_t now_ns);
  /// The command is gone.
  Verdict ended(const Exit& exit, bool made_progress, int64_t now_ns);
  /// No process of the attempt is left.
  void cleared();
  /// Time passed.
  void advance(int64_t now_ns);

 private:
  RestartPolicy policy_;
  int64_t grace_ns_;
  Phase phase_ = Phase::kLaunch;
  bool is_stopping_ = false;
  bool is_killing_ = false;
  std::optional<int64_t> kill_at_ns_;  // when grace, and then patience, is over
  std::optional<int64_t> restart_at_ns_;
  int exit_code_ = 0;
};

}  // namespace goodput::cli
