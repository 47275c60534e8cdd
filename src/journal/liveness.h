// Whether the process that writes a journal is alive, from what its journal says.
//
//   const Pulse pulse = …;                                     // the journal's last clock pair
//   if (is_dead(header, pulse, {.boot_id = own_boot_id, .now = read_pair(clock), .is_local = folder.is_local()})) …
//
// A pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "journal/live_header.h"

namespace goodput::journal {

/// A liveness thread that only writes a clock pair a second is never three late, unless its process is stopped.
constexpr int64_t kStoodStillNs = 3'000'000'000;
/// Where a journal is copied once a second over a network, or on a machine of which we see only the files, nothing less
/// than minutes tells a slow server from a dead one.
constexpr int64_t kRemoteStoodStillNs = 180'000'000'000;

struct Observer {
  std::string_view boot_id;
  ClockPair now;
  bool is_local = false;  ///< the journal's file system is
};

/// `pulse` is the last clock pair of the journal; of one that has none yet, the pair of its header.
inline bool is_dead(const LiveHeader& header, const ClockPair& pulse, const Observer& observer) {
  if ((header.header_flags & kImportedFlag) != 0) return (header.header_flags & kGrowingFlag) == 0;
  const bool staged = (header.header_flags & kStagedFlag) != 0;
  if (observer.is_local && !staged && !header.boot_id.empty() && !observer.boot_id.empty()) {
    if (header.boot_id != observer.boot_id) return true;
    return observer.now.boot_ns - pulse.boot_ns > kStoodStillNs;
  }
  const bool same_boot = !header.boot_id.empty() && header.boot_id == observer.boot_id;
  const int64_t still_ns = same_boot ? observer.now.boot_ns - pulse.boot_ns : observer.now.wall_ns - pulse.wall_ns;
  return still_ns > kRemoteStoodStillNs;
}

}  // namespace goodput::journal
