// Slice efficiency: time-weighted active/total and available/total over the time for which a slice record is known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "ledger/quotient.h"
#include "ledger/region.h"

namespace goodput::ledger {

/// Sums of nanoseconds; the weighted ones in 2^-24 of a nanosecond, rounded down once for each slice record.
struct SliceSums {
  int128 known_ns = 0;
  int128 stepping = 0;
  int128 available = 0;

  static constexpr int64_t kUnit = int64_t{1} << 24;

  void add(const SliceCounts& counts, int64_t length_ns) {
    const int128 total = std::max<int64_t>(counts.total, 1);
    known_ns += length_ns;
    stepping += static_cast<int128>(length_ns) * kUnit * counts.active / total;
    available += static_cast<int128>(length_ns) * kUnit * counts.available / total;
  }
  void add(const SliceSums& other, int sign = 1) {
    known_ns += sign * other.known_ns;
    stepping += sign * other.stepping;
    available += sign * other.available;
  }
};

/// Over [from_ns, to_ns) as far as the region reaches.
inline SliceSums slice_sums(const Region& region, int64_t from_ns, int64_t to_ns) {
  SliceSums out;
  from_ns = std::max(from_ns, region.begin_ns);
  to_ns = std::min(to_ns, region.end_ns);
  std::optional<SliceCounts> counts = region.slices_before;
  int64_t since_ns = from_ns;
  for (const SliceRecord& record : region.slices) {
    const int64_t until_ns = std::clamp(record.ns, from_ns, std::max(from_ns, to_ns));
    if (counts.has_value() && until_ns > since_ns) out.add(*counts, until_ns - since_ns);
    since_ns = until_ns;
    counts = record.counts;
  }
  if (counts.has_value() && to_ns > since_ns) out.add(*counts, to_ns - since_ns);
  return out;
}

}  // namespace goodput::ledger
