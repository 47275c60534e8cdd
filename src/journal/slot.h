// One slot of a live segment: 32 bytes that check themselves (docs/formats/journal.md, "Slots").
//
// Use Slot where bytes of a run are read or written, and live_event.h for the event that one to three slots make up.
//
//   slot.head = pack_head(kind, attachments, flags, name);
//   slot.head |= slot_checksum(seed, index, slot);      // the low half; stored last, with release
//   if (!is_intact(seed, index, slot)) …                // zero: never committed; else damaged
//
// Pure functions. `index` is the slot's offset in the file divided by 32, `seed` is segment_seed().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/checksum.h"
#include "journal/format.h"

namespace goodput::journal {

struct Slot {
  uint64_t head = 0;     ///< checksum:32, kind:6, attachments:2, flags:8, name:16, from the lowest bit up
  uint64_t boot_ns = 0;  ///< CLOCK_BOOTTIME at recording
  uint64_t value = 0;    ///< by kind: step number, exit value, slice counts, …
  uint64_t place = 0;    ///< number in the lane:48, lane:16
};
static_assert(sizeof(Slot) == kSlotBytes && offsetof(Slot, boot_ns) == 8 && offsetof(Slot, value) == 16 &&
              offsetof(Slot, place) == 24);

/// Kinds that only slots have; event::Kind has the numbers below 48. Never renumber.
enum SlotKind : uint8_t {
  kFirstSlotKind = 48,
  kWorkSlot = 48,       ///< attached: tokens, samples, flops as doubles in boot_ns, value, place (NaN: not told)
  kTimesSlot = 49,      ///< attached: wall time, duration, and whether there is a wall time, in the same three words
  kSkippedSlot = 50,    ///< holds the place of a slot that could not be used; no event
  kClockPairSlot = 51,  ///< clock slots: boot time, wall time, count of pairs
  kClockStepSlot = 52,  ///< clock slots: boot time, wall time after the step, size of the step (signed)
  kSlotKindEnd = 64,
};
constexpr unsigned kMaxAttachments = 3;
constexpr uint16_t kNoName = 0;
constexpr uint16_t kMoreNames = 0xffff;  ///< the name was not kept (65,534 others were); reads as "(MORE)"
constexpr int kLaneShift = 48;
constexpr uint64_t kLaneNumberMask = (uint64_t{1} << kLaneShift) - 1;

constexpr uint64_t pack_head(uint8_t kind, unsigned attachments, uint8_t flags, uint16_t name) {
  return (uint64_t{kind} << 32) | (uint64_t{attachments} << 38) | (uint64_t{flags} << 40) | (uint64_t{name} << 48);
}
constexpr uint8_t head_kind(uint64_t head) { return static_cast<uint8_t>((head >> 32) & 0x3f); }
constexpr unsigned head_attachments(uint64_t head) { return static_cast<unsigned>((head >> 38) & 3); }
constexpr uint8_t head_flags(uint64_t head) { return static_cast<uint8_t>(head >> 40); }
constexpr uint16_t head_name(uint64_t head) { return static_cast<uint16_t>(head >> 48); }

constexpr uint64_t pack_place(uint16_t lane, uint64_t number) {
  return (uint64_t{lane} << kLaneShift) | (number & kLaneNumberMask);
}
constexpr uint16_t place_lane(uint64_t place) { return static_cast<uint16_t>(place >> kLaneShift); }
constexpr uint64_t place_number(uint64_t place) { return place & kLaneNumberMask; }

/// Everything but the time, which is folded last: the clock is read while this is under way (1.14 to 1.19 of a clock
/// read and a store; 1.21 to 1.25 with a multiply-mix in its place).
inline uint32_t slot_checksum_before_time(uint32_t seed, uint32_t index, uint64_t head, uint64_t value,
                                          uint64_t place) {
  const uint64_t first = (head & 0xffff'ffff'0000'0000) | index;
  return crc32c_word(crc32c_word(crc32c_word(seed, first), value), place);
}
inline uint32_t slot_checksum(uint32_t seed, uint32_t index, const Slot& slot) {
  return crc32c_word(slot_checksum_before_time(seed, index, slot.head, slot.value, slot.place), slot.boot_ns);
}

/// Committed, and at the place where it was written. A zero head is a slot that was never committed.
inline bool is_intact(uint32_t seed, uint32_t index, const Slot& slot) {
  return head_kind(slot.head) != 0 && static_cast<uint32_t>(slot.head) == slot_checksum(seed, index, slot);
}
inline bool is_blank(const Slot& slot) { return (slot.head | slot.boot_ns | slot.value | slot.place) == 0; }

}  // namespace goodput::journal
