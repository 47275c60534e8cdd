// Keeps a run's folder within a budget: drops the oldest sealed segments of the dead, other ranks' first, then the
// rest, never before an index or a kept account knows all that they say.
//
//   const uint64_t budget_bytes = disk_budget_bytes(journal::system_environment());
//   DiskBudget(log, indexes, machine).keep(folders, budget_bytes, ledger, [&] { return keep_account_durably(); });
//
// Live files, journals whose lock is held, the last segment of each journal and what a ledger has not settled stay,
// whatever they take. Windows that begin before what was dropped are coarse from then on. One thread, which holds the
// locks of `folders`. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "journal/index_writer.h"
#include "journal/job_log.h"
#include "journal/roots.h"
#include "journal/sealer.h"
#include "ledger/ledger.h"

namespace goodput::monitor {

/// For each run's folder.
constexpr uint64_t kDiskBudgetBytes = uint64_t{2} << 30;

/// GOODPUT_DISK_BUDGET: bytes, or a number with K, M, G or T (powers of 1,024; "2G", "512MiB"); 0: no budget. What is
/// none of these counts as not set.
uint64_t disk_budget_bytes(const journal::Environment& environment);

class DiskBudget {
 public:
  DiskBudget(journal::JobLog& log, journal::IndexWriter& indexes, const journal::Machine& machine)
      : log_(&log), indexes_(&indexes), machine_(&machine) {}

  /// `keep_account` makes durable what log and ledger know; false: it did not, and nothing that it would stand for is
  /// dropped.
  void keep(std::span<Directory* const> folders, uint64_t budget_bytes, const ledger::Ledger& ledger,
            FunctionRef<bool()> keep_account);

 private:
  using Member = journal::JobLog::Member;
  struct Segment {
    const Member* member = nullptr;
    uint32_t number = 0;
    int64_t last_ns = 0;
    uint64_t bytes = 0;
  };

  [[nodiscard]] uint64_t bytes_at_most() const;
  [[nodiscard]] std::vector<Segment> sealed_segments(uint64_t& bytes) const;
  uint64_t drop_ranks(journal::IndexedRanks& ranks, uint64_t wanted_bytes);
  void drop(std::span<const Segment> segments);

  journal::JobLog* log_;
  journal::IndexWriter* indexes_;
  const journal::Machine* machine_;
};

}  // namespace goodput::monitor
