// The latest steps of one journal, for comparing ranks: read from its end, so that a long run costs no more than a
// short one.
//
//   const std::vector<StepAt> steps = latest_steps(run_folder, journal, decompressor);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/file_system.h"
#include "journal/journal_file.h"

namespace goodput::journal {

/// At the start of a step, on the clock of its machine.
struct StepAt {
  int64_t step = 0;
  int64_t boot_ns = 0;
  friend bool operator==(const StepAt&, const StepAt&) = default;
};

/// One block of a sealed segment, or little more: enough for a 99th percentile.
constexpr size_t kLatestSteps = 4'096;

/// At most kLatestSteps of the segments that `journal` knows, in order, their numbers rising: those since the journal's
/// last rollback. Steps that carry a time of their own are left out. What cannot be read is missing.
std::vector<StepAt> latest_steps(Directory& run_folder, const JournalFile& journal, Decompressor& decompressor);

}  // namespace goodput::journal
