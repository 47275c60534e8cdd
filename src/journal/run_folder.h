// Where a job's journals lie: the folder of one of its runs under one root.
//
//   ASSIGN_OR_RETURN(auto root, open_root(posix_file_system(), path));
//   ASSIGN_OR_RETURN(auto run, open_run_folder(*root, "llama-7b", ""));
//   const std::vector<JournalId> journals = list_journals(*run);
//
// Readers go through handles and single names (base/file_system.h): links inside a root are not followed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace goodput::journal {

using JournalId = std::array<uint8_t, 16>;

/// The folder under which all jobs lie. kNotFound: there is none.
Result<std::unique_ptr<Directory>> open_root(FileSystem& files, const std::string& path);

/// <root>/v1/<hash of job>/<hash of run>. kNotFound: nothing was recorded there.
Result<std::unique_ptr<Directory>> open_run_folder(Directory& root, std::string_view job, std::string_view run_id);

/// Ids of the journals in a run's folder, in no order; everything else there is passed over.
Result<std::vector<JournalId>> list_journals(Directory& run_folder);

}  // namespace goodput::journal
