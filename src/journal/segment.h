// What one segment holds, live or sealed: who wrote it, its events in the order of their slots, and what is lost.
//
// recover_live() and recover_sealed() make one of bytes, seal_segment() makes the sealed bytes of one.
//
//   ASSIGN_OR_RETURN(const Segment segment, recover_live(bytes, hint));
//   for (const StoredEvent& stored : segment.events) use(stored.event, segment.names[stored.event.name]);
//
// A value; nothing in it points into the bytes that it came from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "journal/clock_slots.h"
#include "journal/counters.h"
#include "journal/live_event.h"
#include "journal/live_header.h"
#include "journal/loss.h"
#include "journal/name_table.h"

namespace goodput::journal {

struct StoredEvent {
  LiveEvent event;
  uint32_t slot = 0;  ///< index of its head in the live file; survives sealing
};

/// Ids of the texts that an event refers to; kNoName where there is none.
inline std::array<uint16_t, 3> name_ids(const LiveEvent& event) {
  const bool has_text = event.kind == event::Kind::kDisruption && event.value > 0 && event.value <= kMoreNames;
  return {event.name, has_text ? static_cast<uint16_t>(event.value) : kNoName, event.imported.origin};
}

/// The numbers of a lane that a segment accounts for: each is a slot that is intact or whose loss is stated. Lanes may
/// come back to an older segment, so only the sum over a journal's segments says what is missing (missing_slots).
struct LaneExtent {
  uint16_t lane = 0;
  uint64_t first = 0;
  uint64_t end = 0;  ///< after the last
  uint64_t accounted = 0;
  friend bool operator==(const LaneExtent&, const LaneExtent&) = default;
};

/// Lanes of one or many segments, joined by lane.
class LaneExtents {
 public:
  void add(uint16_t lane, uint64_t first, uint64_t end, uint64_t accounted);
  void add(const LaneExtents& other);
  /// Damaged slots of which nothing says whose they were.
  void add_unattributed(uint64_t slots) { unattributed_ += slots; }
  /// Numbers before the last of each lane that nothing accounts for; from the lane's first known one, or from 0 when
  /// `from_start`: the journal's first segment is among those added.
  [[nodiscard]] uint64_t missing_slots(bool from_start) const;
  /// By lane.
  [[nodiscard]] const std::vector<LaneExtent>& lanes() const { return lanes_; }
  [[nodiscard]] uint64_t unattributed() const { return unattributed_; }
  friend bool operator==(const LaneExtents&, const LaneExtents&) = default;

 private:
  std::vector<LaneExtent> lanes_;
  uint64_t unattributed_ = 0;
};

/// What folder and file name say of a segment, for when its own header is gone.
struct SegmentHint {
  std::array<uint8_t, 16> journal_id{};
  uint32_t segment_number = 0;
};

struct Segment {
  LiveHeader header;
  std::vector<StoredEvent> events;  ///< by slot
  NameTable names;
  LaneExtents lanes;
  CounterValues counters;
  ClockSlots clock;
  std::vector<Loss> losses;  ///< each reason once; missing numbers are not among them
};

/// The losses of some segments of one journal together, with what their lanes show to be missing between them.
std::vector<Loss> joint_losses(std::span<const Segment* const> segments);

}  // namespace goodput::journal
