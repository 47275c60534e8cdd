// A job that is followed where it is stored: on whatever machine, without its journals.
//
//   ASSIGN_OR_RETURN(auto job, follow_stored(files, roots, {.url = "cloud-logging://p/log", .name = "llama-7b"}, {},
//                                            system_clock()));
//   job->poll();                                        // each takes what is new in the store
//
// What was read is kept in a folder under `roots` (store/cloud_logging/log_mirror.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "monitor/followed_job.h"

namespace goodput::monitor {

struct StoredJob {
  std::string url{};   ///< "cloud-logging://PROJECT/LOG"; the project may be "auto"
  std::string name{};  ///< a job (its latest run), or NAME@RUN
  /// How old what counts may be; nothing: as old as logs are kept.
  std::optional<int64_t> retention_ns{};
  /// A service that counts questions is waited for, as long as there is progress: a log of a million entries takes
  /// more of them than it answers in a minute. Otherwise that is a failure, and the next poll goes on.
  bool is_patient = false;
  Environment environment = system_environment();
};

/// With what the store has until now. kInvalidArgument: no such store; kNotFound: it has no entries of the job, or no
/// project is known; kUnavailable: it could not be asked.
Result<std::unique_ptr<FollowedJob>> follow_stored(FileSystem& files, const std::vector<journal::Root>& roots,
                                                   const StoredJob& what, const ledger::Options& options,
                                                   const Clock& clock);

struct Fetched {
  journal::Root root;  ///< a folder of journals
  RunName run;
  bool may_be_cut_off = false;  ///< what came before is gone
};

/// Brings what the store has until now to this machine, for others to read. Fails as follow_stored().
Result<Fetched> fetch_stored(FileSystem& files, const std::vector<journal::Root>& roots, const StoredJob& what,
                             const Clock& clock);

}  // namespace goodput::monitor
