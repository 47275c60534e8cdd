// What rules 9 and 10 say of each step interval: warm-up, stalled, or steady. As if nothing were ever wasted, so that a
// later rollback changes no verdict.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ledger/fold_state.h"
#include "ledger/options.h"
#include "ledger/ownership.h"
#include "ledger/quotient.h"
#include "ledger/region.h"

namespace goodput::ledger {

enum class Verdict : uint8_t { kSteady, kWarmup, kStalled };

struct SegmentVerdict {
  std::optional<Quotient> tail_typical;  ///< what its last step is judged by; empty: not at all
  StepSums steady;                       ///< its steady intervals in this region, wasted or not
};

/// Interval i of the region runs from record i to record i + 1 of one segment.
struct Verdicts {
  std::vector<int64_t> unowned_ns;
  std::vector<Verdict> verdict;
  std::vector<std::pair<uint32_t, Quotient>> stalled_typical;  ///< of stalled intervals, ascending
  std::vector<SegmentVerdict> segments;
  std::vector<StepTime> typical;  ///< the window at the region's end
  StepSums segment_steady;        ///< of the segment running at the region's end, from its beginning
};

/// `state` is what the region's fold began with. O(intervals + owned).
[[nodiscard]] Verdicts judge(const Region& region, std::span<const Owned> owned, const FoldState& state,
                             const Options& options);

}  // namespace goodput::ledger
