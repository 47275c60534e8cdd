// What the doctor looks at: plain values, gathered once (gather.h), so that every check is a pure function of them.
//
//   Facts facts{.folder = look_at_folder(roots, environment, is_named)};
//   facts.job = look_at_job(…);
//   for (const Line& line : examine(facts)) …
//
// An absent answer is an empty optional. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/event_survey.h"
#include "doctor/step_pattern.h"
#include "monitor/monitor_status.h"
#include "report/report.h"

namespace goodput::doctor {

/// The folder that a recorder started here would write to.
struct FolderFacts {
  std::string path{};
  bool is_named = false;                 ///< by --dir, GOODPUT_DIR or the configuration; else one of the defaults
  bool is_there = false;                 ///< else it would be made
  std::string obstacle{};                ///< why nothing can be written there; empty: it can
  std::string kind{};                    ///< of file system: "ext4"; "type 0x…" where it has no name here
  bool maps_in_place = false;            ///< recorders write there at once; else they stage and copy
  std::string staging{};                 ///< where they would stage; empty: nowhere
  uint64_t free_bytes = 0;               ///< for this user
  std::optional<uint64_t> free_files{};  ///< empty: its file system does not count them
  uint64_t budget_bytes = 0;             ///< of one run; 0: none
};

/// What Google Cloud says of us.
struct GoogleFacts {
  std::string project{};              ///< empty: nobody named one
  std::string identity{};             ///< where the credentials come from
  std::string credentials_trouble{};  ///< why there is no token; empty: there is one
  std::vector<std::string> missing_permissions{};
  std::string permissions_trouble{};                         ///< why it is not known which are granted
  std::optional<std::vector<std::string>> machine_scopes{};  ///< where the credentials are the machine's
  std::vector<std::string> disabled_apis{};
  std::string apis_trouble{};  ///< why it is not known which are enabled
};

using MonitorFacts = monitor::SeenMonitor;

struct JobFacts {
  std::string name{};     ///< as it was asked for
  std::string absence{};  ///< why there is no report; empty: there is one
  report::Report report{};
  bool has_lead = false;    ///< a trainer's journal of process 0
  bool has_others = false;  ///< trainers' journals of other processes
  bool has_launcher = false;
  uint64_t journal_bytes = 0;
  Survey survey{};
  std::optional<RegularStall> regular_stall{};
  std::vector<MonitorFacts> monitors{};  ///< the newest first
};

struct Facts {
  int64_t now_ns = 0;
  std::optional<GoogleFacts> google{};  ///< empty: nothing here points to Google Cloud
  FolderFacts folder{};
  std::optional<JobFacts> job{};  ///< empty: no job was named
};

}  // namespace goodput::doctor
