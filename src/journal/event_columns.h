// The events of one block as columns: what a block of a sealed segment says, before it is made into events.
//
// encode_columns() writes the plain bytes of a block, decode_columns() reads them; compression, checksum and framing
// are sealed_blocks.h's. What follows is predicted from what came before in the block, and only the difference is
// stored: the time from the lane's last event, by the running mean for the same pair of kinds; the value by the last
// difference for the kind.
//
//   std::vector<std::byte> plain;
//   encode_columns(events.first(n), plain);
//   EventColumns columns;
//   if (!decode_columns(plain, n, columns)) …            // not what the encoder writes
//   for_each_event(columns, [](const LiveEvent& event, uint32_t slot) { … });
//
// Pure functions; EventColumns is a buffer to be used again, 100 KiB once it has been full.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "journal/segment.h"

namespace goodput::journal {

/// What events have in common; a block lists each once.
struct EventShape {
  event::Kind kind = event::Kind::kNone;
  uint8_t flags = 0;
  uint8_t attached = 0;  ///< EventShape::Attached
  uint16_t name = kNoName;

  enum Attached : uint8_t { kWork = 1, kTimes = 2, kWallTime = 4, kImported = 8 };
  static constexpr uint8_t kAllAttached = kWork | kTimes | kWallTime | kImported;
  /// How many slots such an event takes.
  [[nodiscard]] uint32_t slots() const {
    return 1U + ((attached & kWork) != 0 ? 1U : 0U) + ((attached & kTimes) != 0 ? 1U : 0U);
  }
  friend bool operator==(const EventShape&, const EventShape&) = default;
};

/// Events whose slots and numbers follow each other in one lane.
struct EventPiece {
  uint32_t events = 0;
  uint32_t slot = 0;    ///< first slot taken
  uint64_t number = 0;  ///< its number in the lane
  uint16_t lane = 0;
};

/// What an event with something attached carries.
struct EventAttachment {
  int64_t wall_ns = 0;
  int64_t duration_ns = 0;
  double tokens = 0, samples = 0, flops = 0;
  ImportedFacts imported{};
};

struct EventColumns {
  std::vector<EventShape> shapes;
  std::vector<EventPiece> pieces;
  std::vector<uint8_t> shape;  ///< of each event: index into shapes
  std::vector<int64_t> boot_ns;
  std::vector<int64_t> value;
  std::vector<EventAttachment> attachments;  ///< of the events whose shape has any, in order
};

/// How many of `events`, from the first, one block can hold whatever they are: at most kMaxBlockEvents, with at most
/// kMaxShapes shapes.
size_t max_block_events(std::span<const StoredEvent> events);

/// Appends the plain bytes of a block of these events, of which there are at most max_block_events().
void encode_columns(std::span<const StoredEvent> events, std::vector<std::byte>& plain);

/// False when `plain` is not what encode_columns() writes for `events` events; `columns` is then unspecified.
bool decode_columns(std::span<const std::byte> plain, uint32_t events, EventColumns& columns);

/// Event `i` whose attachment, if its shape has one, is `attachment`; lane, number left out.
LiveEvent event_at(const EventColumns& columns, size_t i, const EventAttachment* attachment);

/// Calls `visit(const LiveEvent&, uint32_t slot)` for each event, in order.
template <typename Visit>
void for_each_event(const EventColumns& columns, Visit visit) {
  size_t i = 0, next_attachment = 0;
  for (const EventPiece& piece : columns.pieces) {
    uint32_t slot = piece.slot;
    uint64_t number = piece.number;
    for (uint32_t k = 0; k < piece.events; ++k, ++i) {
      const EventShape& shape = columns.shapes[columns.shape[i]];
      const EventAttachment* attachment = shape.attached != 0 ? &columns.attachments[next_attachment++] : nullptr;
      LiveEvent event = event_at(columns, i, attachment);
      slot += shape.slots();
      number += shape.slots();
      event.lane = piece.lane;
      event.number = (number - 1) & kLaneNumberMask;
      visit(event, slot - 1);
    }
  }
}

}  // namespace goodput::journal
