// Where a job's journals lie: the folder of one of its runs under one root, and which runs there are.
//
//   ASSIGN_OR_RETURN(auto root, open_root(posix_file_system(), roots[0]));
//   ASSIGN_OR_RETURN(auto run, open_run_folder(*root, "llama-7b", ""));
//   for (const RunEntry& entry : list_runs(posix_file_system(), roots, "llama-7b")) …     // the latest is the last
//
// Readers go through handles and single names (base/file_system.h): links inside a root are not followed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "journal/live_header.h"
#include "journal/rank_index.h"
#include "journal/roots.h"

namespace goodput::journal {

/// <root>/v1/<hash of job>/<hash of run>. kNotFound: nothing was recorded there.
Result<std::unique_ptr<Directory>> open_run_folder(Directory& root, std::string_view job, std::string_view run_id);

/// The journals in a run's folder, by id; everything else there is passed over.
Result<std::vector<JournalId>> list_journals(Directory& run_folder);
/// The rank-0 journals of whose ranks there is an index (journal/rank_index.h), by id. `kept` is the folder of what
/// readers keep.
std::vector<JournalId> list_indexes(Directory& kept);

/// The header of a journal's first segment that has one. kNotFound: none has. kUnsupported: a newer format version.
Result<LiveHeader> read_journal_header(Directory& run_folder, const JournalId& id);

struct RunEntry {
  std::string job;
  std::string run_id;
  int64_t first_start_ns = 0;  ///< wall time at which its first and its latest journal were opened
  int64_t last_start_ns = 0;
  size_t journals = 0;
};

/// The runs under any of `roots`, of one job or of all; joined where a run lies under several. By job, then by the
/// start of the latest journal. What cannot be read is passed over: `job` then has no entry. Reads one header of each
/// journal that is in no index.
std::vector<RunEntry> list_runs(FileSystem& files, std::span<const Root> roots, std::optional<std::string_view> job);

struct RunName {
  std::string job{};
  std::string run_id{};
  friend auto operator<=>(const RunName&, const RunName&) = default;
};

/// The run of `job` whose journal is the latest. Reads journals only where the job has several runs, or one with a
/// name.
std::optional<RunName> find_latest_run(FileSystem& files, std::span<const Root> roots, std::string_view job);
/// The run of that name, where there is a folder for it. Reads nothing.
std::optional<RunName> find_named_run(FileSystem& files, std::span<const Root> roots, std::string_view job,
                                      std::string_view run_id);

}  // namespace goodput::journal
