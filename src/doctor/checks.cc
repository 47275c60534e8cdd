// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks.h"

#include <algorithm>
#include <array>

namespace goodput::doctor {
namespace {

constexpr std::array kChecks = {
    Check{"credentials", "credentials", Check::kGoogle, check_credentials},
    Check{"permissions", "permissions", Check::kProject, check_permissions},
    Check{"scopes", "access scopes", Check::kProject, check_scopes},
    Check{"apis", "APIs", Check::kProject, check_apis},
    Check{"exports", "exports", Check::kRecord, check_exports},
    Check{"lead", "lead process", Check::kName, check_lead},
    Check{"run_name", "run name", Check::kRecord, check_run_name},
    Check{"checkpoints", "checkpoints", Check::kRecord, check_checkpoints},
    Check{"job_start", "job start", Check::kRecord, check_job_start},
    Check{"steps", "steps", Check::kRecord, check_steps},
    Check{"writers", "writers", Check::kRecord, check_writers},
    Check{"clocks", "clocks", Check::kRecord, check_clocks},
    Check{"open_events", "open events", Check::kRecord, check_open_events},
    Check{"regular_stalls", "regular stalls", Check::kRecord, check_regular_stalls},
    Check{"input", "input", Check::kRecord, check_input},
    Check{"losses", "losses", Check::kRecord, check_losses},
    Check{"monitor", "monitor", Check::kRecord, check_monitor},
    Check{"folder", "folder", Check::kMachine, check_folder},
    Check{"disk", "disk", Check::kMachine, check_disk},
    Check{"file_system", "file system", Check::kMachine, check_file_system},
};

bool applies(const Check& check, const Facts& facts) {
  switch (check.of) {
    case Check::kMachine:
      return true;
    case Check::kGoogle:
      return facts.google.has_value();
    case Check::kProject:
      return facts.google.has_value() && facts.google->credentials_trouble.empty() && !facts.google->project.empty();
    case Check::kName:
      return facts.job.has_value();
    case Check::kRecord:
      return facts.job.has_value() && facts.job->absence.empty();
  }
  return false;
}

}  // namespace

std::span<const Check> checks() { return kChecks; }

std::vector<Line> examine(const Facts& facts) {
  std::vector<Line> lines;
  for (const Check& check : kChecks) {
    if (applies(check, facts)) lines.push_back({check.name, check.title, check.look(facts)});
  }
  return lines;
}

Verdict worst_of(std::span<const Line> lines) {
  Verdict worst = Verdict::kGreen;
  for (const Line& line : lines) worst = std::max(worst, line.opinion.verdict);
  return worst;
}

std::string_view to_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGreen:
      return "green";
    case Verdict::kYellow:
      return "yellow";
    case Verdict::kRed:
      return "red";
  }
  return "red";
}

}  // namespace goodput::doctor
