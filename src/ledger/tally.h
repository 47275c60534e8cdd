// Adds up pieces of accounted time, all of them or those inside given intervals.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "ledger/fold_state.h"
#include "ledger/totals.h"

namespace goodput::ledger {

/// [first, second) in nanoseconds.
using Interval = std::pair<int64_t, int64_t>;

/// Pieces must come in time order.
class Tally {
 public:
  Tally() = default;
  /// Only what lies in `inside`: disjoint, ascending; must outlive the tally.
  explicit Tally(std::span<const Interval> inside) : clipped_(true), inside_(inside) {}

  void add(int64_t from_ns, int64_t to_ns, TimeClass time_class, uint16_t custom = 0) {
    if (from_ns >= to_ns) return;
    if (to_ns > mark_ns_) [[unlikely]] {
      const int64_t mark_ns = std::exchange(mark_ns_, kNoStep);
      add(from_ns, mark_ns, time_class, custom);
      marked_ = totals_;
      add(std::max(from_ns, mark_ns), to_ns, time_class, custom);
      return;
    }
    if (clipped_) [[unlikely]] {
      add_clipped(from_ns, to_ns, time_class, custom);
      return;
    }
    totals_.add(time_class, custom, to_ns - from_ns);
  }

  /// Remembers the totals as of `mark_ns`, which no piece so far has passed.
  void mark(int64_t mark_ns) { mark_ns_ = mark_ns; }
  /// The totals at the mark; those of now when no piece has passed it.
  [[nodiscard]] Totals marked() {
    if (mark_ns_ == kNoStep) return marked_;
    mark_ns_ = kNoStep;
    return totals_;
  }

  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  void add_clipped(int64_t from_ns, int64_t to_ns, TimeClass time_class, uint16_t custom) {
    while (!inside_.empty() && inside_.front().second <= from_ns) inside_ = inside_.subspan(1);
    for (const Interval& interval : inside_) {
      if (interval.first >= to_ns) break;
      const int64_t length_ns = std::min(to_ns, interval.second) - std::max(from_ns, interval.first);
      if (length_ns > 0) totals_.add(time_class, custom, length_ns);
    }
  }

  bool clipped_ = false;
  std::span<const Interval> inside_;
  int64_t mark_ns_ = kNoStep;
  Totals totals_;
  Totals marked_;
};

}  // namespace goodput::ledger
