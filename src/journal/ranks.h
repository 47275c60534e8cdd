// The ranks of an attempt beside rank 0: when each was last alive, and how late it came to its steps.
//
// Ranks are reported, not accounted. Clocks of two hosts are not compared below 100 ms: what is less is not stated.
//
//   const std::vector<RankSigns> ranks = ranks_of(log, log.attempts().size() - 1);
//   const std::optional<int64_t> first = first_stopped(signs_of(log, attempt));
//
// Reads journals anew, each from its end; one thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "journal/job_log.h"
#include "journal/latest_steps.h"

namespace goodput::journal {

/// Below this two hosts' clocks say nothing: NTP keeps them within some tens of milliseconds.
constexpr int64_t kHostClocksNs = 100'000'000;
/// A process shows every second that it is alive: it died up to so long after its last sign.
constexpr int64_t kSignEveryNs = 1'100'000'000;
/// Fewer steps in common have no 90th percentile.
constexpr size_t kLeastCommonSteps = 10;

struct RankSigns {
  int64_t process_index = 0;
  std::string host;
  std::string boot_id;
  int64_t last_sign_ns = 0;  ///< its last event or clock pair, wall time
  std::optional<int64_t> late_p90_ns, late_p99_ns;
};

/// Percentiles of how much later than its own median offset to rank 0 a rank came to the same steps.
struct Lateness {
  int64_t p90_ns = 0, p99_ns = 0;
};
/// Each list by rising step numbers. Nothing where too few are common. Pure.
std::optional<Lateness> lateness_of(std::span<const StepAt> rank, std::span<const StepAt> rank_zero);

/// The rank that stopped before all others; nothing where clocks, or signs a second apart, do not tell. Pure.
std::optional<int64_t> first_stopped(std::span<const RankSigns> ranks);

/// Compares ranks of one launch with its rank 0, whose steps are read once. The rank 0 outlives it.
class LatenessReader {
 public:
  explicit LatenessReader(const JobLog::Member& rank_zero);
  /// What the clocks of the two can tell; nothing else.
  void set(const JobLog::Member& rank, std::optional<int64_t>& p90_ns, std::optional<int64_t>& p99_ns);

 private:
  const JobLog::Member* rank_zero_;
  bool was_read_ = false;
  std::vector<StepAt> steps_;
  Decompressor decompressor_;
};

/// Last signs of all ranks of the launch to which attempt `attempt` of `log` belongs, rank 0 included, by index: the
/// last sign of a rank with several journals, and who wrote the newest of them. Reads an index at most.
std::vector<RankSigns> signs_of(JobLog& log, size_t attempt);

/// The same with lateness, rank 0 left out. Of a running attempt its latest steps are compared. Reads the journals that
/// are in no index.
std::vector<RankSigns> ranks_of(JobLog& log, size_t attempt);

}  // namespace goodput::journal
