// Puts the events of a store into another order, outside memory where they do not fit.
//
// Runs of 32,768 events are sorted in memory and merged, 64 at a time: what stands in memory at once is about 12 MB,
// whatever the length of the log.
//
//   RETURN_IF_ERROR(sort_events(in_log_order, Order::kTime, spool, origins, [&](StoredEvent& e) { return out.append(e);
//   }));
//
// Stable. One thread; fails as the stores do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/function_ref.h"
#include "base/status.h"
#include "importers/event_store.h"

namespace goodput::importers {

enum class Order : uint8_t {
  kTime,      ///< (time, position)
  kPosition,  ///< the `sequence` of each event, then its ordinal
  kLogEntry,  ///< (timestamp, insert id, log) of the log entry around each event, then its ordinal; without one, its
              ///< time
};

/// What a sort may hold at once.
struct SortBounds {
  size_t blocks_per_run = 64;  ///< 32,768 events: 12 MB while they are sorted
  size_t fan_in = 64;          ///< as many decoded blocks of 190 KB: 12 MB while they are merged
};

/// Hands every event of `in` (finished) to `out`, in order; names and details are valid during the call.
Status sort_events(const EventStore& in, Order order, Spool& spool, const OriginTable& origins,
                   FunctionRef<Status(StoredEvent&)> out, SortBounds bounds = {});

}  // namespace goodput::importers
