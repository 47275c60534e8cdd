// The troubleshooting guide as functions: each check looks at the facts and says green, yellow or red, with the fix.
//
// Use examine() for all that apply; a check of a job applies when a job was named and has a report.
//
//   const std::vector<Line> lines = examine(facts);
//   const bool is_ill = worst_of(lines) == Verdict::kRed;
//
// docs/guides/troubleshooting.md has a section for each check, by its title and in this order. Pure; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

namespace goodput::doctor {

enum class Verdict : uint8_t {
  kGreen,   ///< as it should be, or too early to tell
  kYellow,  ///< figures say less than they could, or something is odd
  kRed,     ///< figures are wrong, or nothing is recorded
};

struct Opinion {
  Verdict verdict = Verdict::kGreen;
  std::string seen{};  ///< one sentence
  std::string fix{};   ///< what to do; empty when green
};

struct Line {
  std::string_view check, title;  ///< of the Check, which lives as long as the process
  Opinion opinion{};
};

struct Check {
  std::string_view name;   ///< for scripts
  std::string_view title;  ///< for people
  /// When it applies: always; Google Cloud is used; and answers, with a project; a job was named; and has a report.
  enum Of : uint8_t { kMachine, kGoogle, kProject, kName, kRecord } of;
  Opinion (*look)(const Facts& facts);
};

/// All of them, in the order of the guide.
std::span<const Check> checks();

std::vector<Line> examine(const Facts& facts);

Verdict worst_of(std::span<const Line> lines);

std::string_view to_word(Verdict verdict);

// google_checks.cc: whether what goes to Google Cloud may go there.
Opinion check_credentials(const Facts& facts);
Opinion check_permissions(const Facts& facts);
Opinion check_scopes(const Facts& facts);
Opinion check_apis(const Facts& facts);

// monitor_checks.cc: whether somebody exports the job's figures, and gets them through.
Opinion check_exports(const Facts& facts);
Opinion check_monitor(const Facts& facts);

// record_checks.cc: what the job's record lacks or has too much of.
Opinion check_lead(const Facts& facts);
Opinion check_run_name(const Facts& facts);
Opinion check_writers(const Facts& facts);
Opinion check_clocks(const Facts& facts);
Opinion check_open_events(const Facts& facts);
Opinion check_losses(const Facts& facts);

// loop_checks.cc: how the training loop is instrumented.
Opinion check_checkpoints(const Facts& facts);
Opinion check_job_start(const Facts& facts);
Opinion check_steps(const Facts& facts);
Opinion check_regular_stalls(const Facts& facts);
Opinion check_input(const Facts& facts);

// folder_checks.cc: where it is recorded.
Opinion check_folder(const Facts& facts);
Opinion check_disk(const Facts& facts);
Opinion check_file_system(const Facts& facts);

}  // namespace goodput::doctor
