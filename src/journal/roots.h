// The folders under which jobs are recorded, and found again.
//
// A folder that was named (by a flag, by GOODPUT_DIR) stands alone; of the defaults a recorder takes the first that it
// can write, and readers search them all.
//
//   const std::vector<Root> roots = search_roots("", system_environment());
//   auto log = JobLog::open(posix_file_system(), roots, job, run_id, clock);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/file_system.h"

namespace goodput::journal {

struct Root {
  std::string path;
  /// Lies where anybody may make folders (/tmp, /dev/shm): only our own is used, and no link.
  bool in_public_place = false;
};

using goodput::Environment;
using goodput::system_environment;

/// `named` alone, or GOODPUT_DIR alone; else $XDG_STATE_HOME/goodput, ~/.local/state/goodput, $TMPDIR/goodput-UID and
/// /dev/shm/goodput-UID.
std::vector<Root> search_roots(const std::string& named, const Environment& environment);

/// kNotFound: there is none. kPermissionDenied: it lies in a public place and is not ours.
Result<std::unique_ptr<Directory>> open_root(FileSystem& files, const Root& root);

}  // namespace goodput::journal
