// A copy of a live segment for another place: a live segment itself, without the runs that are not used yet.
//
//   ASSIGN_OR_RETURN(const LiveCopy copy, copy_live(bytes));
//   if (copy.says_something) put(copy.bytes);
//
// It grows with its segment. It is marked as written elsewhere (kStagedFlag), so that a reader of the copy waits for
// minutes, not seconds, before it takes the writer for dead. A pure function. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "journal/live_header.h"

namespace goodput::journal {

struct LiveCopy {
  std::vector<std::byte> bytes;
  LiveHeader header;            ///< of the copy
  size_t events = 0;            ///< that are intact
  uint64_t pairs = 0;           ///< signs of life so far; 0: none in this segment
  bool says_something = false;  ///< it is a journal's first, or has an event or a sign of life
};

/// `segment`: all of a live file, or of a copy. kUnreadable: it has no header yet, or is cut short.
Result<LiveCopy> copy_live(std::span<const std::byte> segment);

}  // namespace goodput::journal
