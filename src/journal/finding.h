// What reading a job's journals showed that a reader of the report should know, as a value.
//
//   for (const Finding& finding : log.findings()) report.findings.push_back(rendered(finding));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goodput::journal {

struct Finding {
  std::string kind;  ///< one of the words below
  uint64_t count = 0;
  double seconds = 0;    ///< 0: it has no length
  int64_t first_ns = 0;  ///< 0: it has no time
  std::string detail;    ///< which, who, how: for the message
};

/// Words of Finding::kind.
namespace finding {
constexpr const char* kEventsLost = "events_lost";  ///< damage: count events, "up to" in the detail where it is a bound
constexpr const char* kNamesLost = "names_lost";    ///< damage: events are there, their names are not
constexpr const char* kEventsDropped = "events_dropped";     ///< by recorders, by cause in the detail
constexpr const char* kWallClockStep = "wall_clock_step";    ///< seconds: sizes added up
constexpr const char* kOrphanRank = "orphan_rank";           ///< journals of ranks whose attempt nobody knows
constexpr const char* kTwoWriters = "two_writers";           ///< journals left out; hosts and processes in the detail
constexpr const char* kSlowStepNumber = "slow_step_number";  ///< step numbers that took over 1 ms to read
constexpr const char* kNewerVersion = "newer_version";       ///< journals that this program is too old for
constexpr const char* kNewerKinds = "newer_kinds";           ///< events that this program is too old for
constexpr const char* kTextsCut = "texts_cut";               ///< names, locations or texts longer than 2,000 bytes
constexpr const char* kTooManyNames = "too_many_names";      ///< events whose names were not kept
constexpr const char* kLabelsLeftOut = "labels_left_out";
constexpr const char* kMalformedEntry = "malformed_entry";  ///< of an imported log: entries that were no events
constexpr const char* kRepairedEntry = "repaired_entry";    ///< of an imported log: entries used after a repair
constexpr const char* kHistoryDropped = "history_dropped";  ///< 1: events before its time, and the account of them
constexpr const char* kSyncFailed = "sync_failed";          ///< times: the disk refused to sync a segment
}  // namespace finding

}  // namespace goodput::journal
