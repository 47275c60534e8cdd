// Adds a log that somebody else wrote to a run, as a journal: what `goodput import` does once the log is read.
//
//   ASSIGN_OR_RETURN(const ImportOutcome done, import_log(files, roots, {.job = "llama-7b", .log = &log, …}));
//   done.added, done.known
//
// Nothing of the log is lost: times, places, fingerprints and identities are kept, so that the run's report is that of
// the log. The journal is named after what stands in it, so that it is added once, and an entry that an earlier import
// brought is left out. It appears whole or not at all. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "event/source.h"
#include "journal/roots.h"

namespace goodput::journal {

struct ImportRequest {
  std::string job{};
  std::string run_id{};
  event::Source* log = nullptr;  ///< timed entries by time
  /// All entries in the order of the log, untimed ones included.
  std::function<Status(event::Source::Sink)> each_in_log_order{};
  uint64_t malformed_entries = 0, repaired_entries = 0;
  std::string writer{};                                     ///< program and version
  std::function<void(uint64_t done_events)> progress = {};  ///< while they are written
};

struct ImportOutcome {
  uint64_t added = 0;
  uint64_t known = 0;      ///< left out: an earlier import brought them
  std::string journal_id;  ///< empty: nothing was added
};

/// kInvalidArgument: the run was recorded here, and what an import brings would count twice. Other failures: nothing
/// was added.
Result<ImportOutcome> import_log(FileSystem& files, const std::vector<Root>& roots, const ImportRequest& request);

}  // namespace goodput::journal
