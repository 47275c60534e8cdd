// SPDX-License-Identifier: Apache-2.0
#include "journal/segment.h"

#include <algorithm>

namespace goodput::journal {

void LaneExtents::add(uint16_t lane, uint64_t first, uint64_t end, uint64_t accounted) {
  auto at = std::lower_bound(lanes_.begin(), lanes_.end(), lane,
                             [](const LaneExtent& known, uint16_t wanted) { return known.lane < wanted; });
  if (at == lanes_.end() || at->lane != lane) {
    lanes_.insert(at, {.lane = lane, .first = first, .end = end, .accounted = accounted});
    return;
  }
  at->first = std::min(at->first, first);
  at->end = std::max(at->end, end);
  at->accounted += accounted;
}

void LaneExtents::add(const LaneExtents& other) {
  for (const LaneExtent& lane : other.lanes_) add(lane.lane, lane.first, lane.end, lane.accounted);
  unattributed_ += other.unattributed_;
}

uint64_t LaneExtents::missing_slots(bool from_start) const {
  uint64_t missing = 0;
  for (const LaneExtent& lane : lanes_) {
    const uint64_t numbers = lane.end - (from_start ? 0 : lane.first);
    if (numbers > lane.accounted) missing += numbers - lane.accounted;
  }
  return missing > unattributed_ ? missing - unattributed_ : 0;
}

std::vector<Loss> joint_losses(std::span<const Segment* const> segments) {
  std::vector<Loss> losses;
  LaneExtents lanes;
  bool from_start = false;
  for (const Segment* segment : segments) {
    for (const Loss& loss : segment->losses) add_loss(losses, loss);
    lanes.add(segment->lanes);
    from_start = from_start || segment->header.segment_number == 1;
  }
  const uint64_t missing = lanes.missing_slots(from_start);
  add_loss(losses,
           {.reason = LossReason::kMissingNumber, .at_most = true, .events = missing, .bytes = missing * kSlotBytes});
  return losses;
}

}  // namespace goodput::journal
