// Who owns an instant: of the claims that cover it the innermost (latest start; ties: later in the log), elastic ones
// before all others and of those re-initialisation first (rule 6 of docs/semantics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ledger/region.h"

namespace goodput::ledger {

/// A stretch of time owned by one event.
struct Owned {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  TimeClass time_class = TimeClass::kOther;
  uint16_t custom = 0;
};

/// Disjoint, in time order, inside [region.begin_ns, region.end_ns), each inside its attempt. O(n log n).
[[nodiscard]] std::vector<Owned> owned_time(const Region& region);

}  // namespace goodput::ledger
