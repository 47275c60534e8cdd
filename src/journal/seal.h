// Sealing: from what a segment holds to the bytes of its sealed file.
//
//   const std::vector<std::byte> file = seal_segment(segment);
//   // write it beside the live file, sync, rename, sync the folder, remove the live file (sealer.h)
//
// A pure function: the same segment gives the same bytes on every machine with the same zstd.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "journal/segment.h"

namespace goodput::journal {

/// `segment.events` by slot, as recovery returns them. Everything in it survives, losses included.
std::vector<std::byte> seal_segment(const Segment& segment);

}  // namespace goodput::journal
