// The events of one run of a live segment, from its bytes.
//
// Use it for recovery (final = true: whatever is there is all there will be) and for following a run that is still
// being written (final = false: stop where a slot is still to come).
//
//   RunScan scan;
//   scan_run(bytes_of_run, first_slot_index, seed, {.from = consumed, .final = false}, scan);
//   consumed = scan.consumed;              // pass it as `from` next time
//
// A pure function; `scan` is added to, so that one buffer serves many runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "journal/segment.h"

namespace goodput::journal {

struct RunScanOptions {
  uint32_t from = 0;  ///< slots of this run that were consumed before
  bool final = true;
  int64_t before_boot_ns = std::numeric_limits<int64_t>::max();  ///< unless final: stop at an event that is not older
};

struct RunScan {
  std::vector<StoredEvent> events;
  LaneExtents lanes;
  std::vector<Loss> losses;
  uint32_t consumed = 0;  ///< of the last run scanned: slots up to the last head that was taken
  bool damaged =
      false;  ///< set when a slot did not check: read a run that is still written to again before believing it
};

/// `run` holds the slots of a run from its first to as many as the file has, at most kRunSlots; `first_index` is the
/// index in the file of the run's first slot.
void scan_run(std::span<const std::byte> run, uint32_t first_index, uint32_t seed, const RunScanOptions& options,
              RunScan& scan);

}  // namespace goodput::journal
