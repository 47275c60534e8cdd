// Recovery: from the bytes of a segment, whatever they are, to what is intact in them and what is lost.
//
// Use it wherever a whole segment is read: a journal whose process died, a file given to `goodput recover`, a segment
// that is about to be sealed. A pure function; it fails only where there is nothing to recover from.
//
//   ASSIGN_OR_RETURN(const Segment segment, recover_live(bytes, SegmentHint{journal_id, 3}));
//   const std::vector<Loss> losses = joint_losses(…);
//
// Each intact event is returned, once, in the order of its slots. Nothing is returned that was not written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "journal/segment.h"

namespace goodput::journal {

/// A live segment, or what is left of one. With both headers gone, its id and number come from `hint`, and without one
/// from the slots themselves; the header returned then holds nothing else. kUnsupported: a newer format version (both
/// are named). kUnreadable: no live segment.
Result<Segment> recover_live(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint = std::nullopt);

/// A sealed segment, or what is left of one. With both headers gone, its id and number come from `hint`; without one
/// nothing can be checked: kUnreadable. kUnsupported: a newer format version (both are named).
Result<Segment> recover_sealed(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint = std::nullopt);

/// Of whichever form `bytes` is.
Result<Segment> recover_segment(std::span<const std::byte> bytes,
                                const std::optional<SegmentHint>& hint = std::nullopt);

/// Adds a text of its own, and a loss, for every name that the events refer to and nothing says.
void state_lost_names(Segment& segment);

/// The seed with which most slots of these bytes check, found without any header; nothing when fewer than two agree.
std::optional<uint32_t> seed_of_slots(std::span<const std::byte> bytes);

}  // namespace goodput::journal
