// A run name that was used twice becomes two runs: what is of the later attempts moves to a run of its own.
//
//   RETURN_IF_ERROR(forget_indexes(files, roots, job, run_id));           // before the log is opened
//   …
//   ASSIGN_OR_RETURN(const SplitOutcome done, split_run(files, roots, *log, request));
//
// First everything that moves is written to the second run, then it is removed from the first: killed anywhere, nothing
// is lost, some of it stands in both, and the same split done again goes on to the same end. One thread; nobody may
// write to the run meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "journal/job_log.h"

namespace goodput::journal {

struct SplitRequest {
  std::string job{};
  std::string run_id{};
  std::string second_run_id{};
  int64_t at_ns = 0;                              ///< when the first attempt of the second run starts
  std::set<std::string, std::less<>> attempts{};  ///< ids of those of the second run, as the log names them
};

struct SplitOutcome {
  size_t moved = 0;  ///< journals, whole
  size_t cut = 0;    ///< journals with something of both runs
};

/// Removes what readers keep of the run, so that a log opened afterwards reads all journals. kUnsupported: of some of
/// what was recorded that is all there is (disk budget).
Status forget_indexes(FileSystem& files, const std::vector<Root>& roots, const std::string& job,
                      const std::string& run_id);

/// `log` is of the first run, has polled, and all of its processes are dead. kUnavailable: one of them lives after all.
/// Other failures: see above.
Result<SplitOutcome> split_run(FileSystem& files, const std::vector<Root>& roots, const JobLog& log,
                               const SplitRequest& request);

}  // namespace goodput::journal
