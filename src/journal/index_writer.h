// Writes indexes of ranks (journal/rank_index.h) for those who come later: what a JobLog read of the dead ranks of a
// launch whose rank 0 is dead too.
//
//   IndexWriter writer(log, clock);
//   writer.write(log.run_folders(), [&] { return clock.boot_ns() > deadline_ns; });
//
// An index is a file beside the journals, replaced as a whole; a failure leaves none, or the one that was there. Let
// one process write at a time. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/clock.h"
#include "base/function_ref.h"
#include "journal/job_log.h"
#include "journal/ranks.h"

namespace goodput::journal {

class IndexWriter {
 public:
  IndexWriter(JobLog& log, const Clock& clock) : log_(&log), clock_(&clock) {}

  /// Launch by launch in `folders`, until `is_enough`. Journals that polls have not given yet are in none.
  void write(std::span<Directory* const> folders, FunctionRef<bool()> is_enough);

  /// Makes an index stand for journals, by their places in it, whose files will be dropped now. Durable when true.
  bool mark_dropped(IndexedRanks& ranks, std::span<const size_t> places);

 private:
  using Member = JobLog::Member;
  /// Of one launch in one folder.
  struct Launch {
    std::vector<Member*> ended;  ///< and in no index
    size_t others = 0;           ///< may still write
  };

  [[nodiscard]] bool is_at_rest(const Member& member) const;
  bool write_launch(const Member& rank_zero, Directory& folder, std::span<Member* const> ended);
  static bool add(const Member& member, LatenessReader& lateness, Decompressor& decompressor, RankIndex& index);
  static bool add_events(const Member& member, Decompressor& decompressor, RankIndex& index, IndexedJournal& journal);
  void take_over(const Member& rank_zero, Directory& folder, RankIndex index, uint32_t checksum);
  [[nodiscard]] IndexedRanks* known_index(const Member& rank_zero, const Directory& folder);

  JobLog* log_;
  const Clock* clock_;
};

}  // namespace goodput::journal
