// Reports for tests, told as a story: what a job did, piece by piece, from which totals, attempts, disruptions and the
// timeline follow, so that a sample report is as consistent as a real one.
//
//   JobScript story("llama-7b", kStartNs);
//   story.begin_attempt("host-1").spend("PROGRAM_STARTUP", 90).spend("PRODUCTIVE", 3600).steps(0, 359);
//   story.die(SIGKILL, "oom").spend("INFRASTRUCTURE_RECOVERY", 45);
//   story.begin_attempt("host-2").spend("PRODUCTIVE", 1800);
//   Report report = story.finish(JobStatus::kRunning);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace goodput::report::testing {

/// 2026-01-01T00:00:00Z.
constexpr int64_t kStartNs = 1'767'225'600'000'000'000;

class JobScript {
 public:
  JobScript(std::string job, int64_t start_ns);

  JobScript& begin_attempt(std::string host);
  /// `seconds` of one class follow; "custom:NAME" is the user's event NAME.
  JobScript& spend(std::string_view name, double seconds);
  /// The attempt recorded these steps.
  JobScript& steps(int64_t first, int64_t last);
  /// The attempt dies here by a signal; the next one begins with a disruption of this cause.
  JobScript& die(int signal, std::string cause, std::string detail = "", bool planned = false);
  JobScript& complete();
  /// What the next attempt had to do again, taken from the productive time of the last.
  JobScript& waste(double seconds, int64_t steps);

  /// The report as of the last piece.
  Report finish(JobStatus status);

 private:
  struct Piece {
    std::string name;
    double seconds = 0;
  };

  void count_recovery(std::string_view name, double seconds);
  [[nodiscard]] Timeline timeline() const;

  Report report_;
  std::vector<Piece> pieces_;
  int64_t now_ns_ = 0;
  bool in_attempt_ = false;
  Disruption* recovering_ = nullptr;
  double pending_waste_seconds_ = 0;
  int64_t pending_waste_steps_ = 0;
  Disruption death_;
  bool died_ = false;
};

}  // namespace goodput::report::testing
