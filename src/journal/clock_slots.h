// The liveness word of a journal: the latest (boot time, wall time) pair of a live segment, and the steps of the wall
// clock that were noticed while it was the newest.
//
// Use make_clock_pair() and make_clock_step() to write, read_clock_slots() to read.
//
//   const Slot slot = make_clock_pair(seed, count % 2, count, pair);       // slots 0 and 1 in turn
//   const ClockSlots seen = read_clock_slots(first_page, seed);
//   if (seen.pairs > 0) alive_until(seen.latest.boot_ns);
//
// Pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/clock.h"
#include "journal/slot.h"

namespace goodput::journal {

/// What counts as a step of the wall clock between two pairs a second apart: slewing moves it by 0.5 ms at most, and a
/// pair is read within microseconds unless its thread is scheduled out between the two clocks.
constexpr int64_t kClockStepNs = 50'000'000;

constexpr uint32_t clock_slot_index(uint32_t clock_slot) { return kClockSlotsOffset / kSlotBytes + clock_slot; }

inline Slot make_clock_slot(uint32_t seed, uint32_t clock_slot, SlotKind kind, const ClockPair& pair, int64_t third) {
  Slot slot{pack_head(kind, 0, 0, 0), static_cast<uint64_t>(pair.boot_ns), static_cast<uint64_t>(pair.wall_ns),
            static_cast<uint64_t>(third)};
  slot.head |= slot_checksum(seed, clock_slot_index(clock_slot), slot);
  return slot;
}
/// `count` pairs have been written to the journal, this one included.
inline Slot make_clock_pair(uint32_t seed, uint32_t clock_slot, int64_t count, const ClockPair& pair) {
  return make_clock_slot(seed, clock_slot, kClockPairSlot, pair, count);
}
/// `pair` was read after a step of `step_ns`.
inline Slot make_clock_step(uint32_t seed, uint32_t clock_slot, const ClockPair& pair, int64_t step_ns) {
  return make_clock_slot(seed, clock_slot, kClockStepSlot, pair, step_ns);
}

struct ClockStep {
  ClockPair after;
  int64_t step_ns = 0;
};

struct ClockSlots {
  int64_t pairs = 0;  ///< 0: none was written, or both slots are damaged
  ClockPair latest;
  std::array<ClockStep, kClockSlots - kFirstClockStepSlot> steps;
  size_t step_count = 0;
};

inline ClockSlots read_clock_slots(std::span<const std::byte> first_page, uint32_t seed) {
  ClockSlots seen;
  for (uint32_t i = 0; i < kClockSlots; ++i) {
    const size_t at = kClockSlotsOffset + size_t{i} * kSlotBytes;
    if (at + kSlotBytes > first_page.size()) break;
    Slot slot;
    std::memcpy(&slot, first_page.data() + at, sizeof(slot));
    if (!is_intact(seed, clock_slot_index(i), slot)) continue;
    const ClockPair pair{static_cast<int64_t>(slot.boot_ns), static_cast<int64_t>(slot.value)};
    const auto third = static_cast<int64_t>(slot.place);
    if (head_kind(slot.head) == kClockPairSlot && third > seen.pairs) {
      seen.pairs = third;
      seen.latest = pair;
    } else if (head_kind(slot.head) == kClockStepSlot) {
      seen.steps[seen.step_count++] = {pair, third};
    }
  }
  return seen;
}

}  // namespace goodput::journal
