// Where in a run's folder we may keep something: only in folders of this user that are closed to others.
//
//   if (Directory* kept = kept_folder(log)) (void)journal::replace_cache_file(*kept, "monitor-1", bytes);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/file_system.h"
#include "journal/job_log.h"

namespace goodput::monitor {

/// Owned by this user, and nobody else may even look.
bool is_ours_alone(Directory& folder);

/// The first such folder of the run that `log` reads, made where it is missing; null where there is none. `log` owns
/// it.
Directory* kept_folder(journal::JobLog& log);

/// The same, opened once more for another thread than the log's, and for longer than it lives.
std::unique_ptr<Directory> own_kept_folder(journal::JobLog& log);

}  // namespace goodput::monitor
