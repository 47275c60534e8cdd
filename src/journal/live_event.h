// An event as a live segment holds it: one slot, preceded by up to two attached slots for what few events carry.
//
// Use it to write an event's slots, or to make one event of the slots that were read. Names are ids of the segment's
// definitions; the reader maps boot time to wall time.
//
//   LiveEvent event{.kind = event::Kind::kStepStart, .value = step};
//   event.tokens = 4096;                                  // one attached slot
//   std::array<Slot, kMaxEventSlots> slots;
//   const unsigned count = encode_event(event, slots);    // slots[count - 1] is the head
//
// Pure functions. Checksums, times and places are the writer's: it knows where the slots will stand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "event/event.h"
#include "journal/slot.h"

namespace goodput::journal {

/// Work, times, head.
constexpr unsigned kMaxEventSlots = 3;

/// What an imported event keeps of the log that it comes from; in sealed segments of imported journals only.
struct ImportedFacts {
  event::Position position;  ///< in that log
  uint64_t fingerprint = 0;
  uint16_t origin = kNoName;  ///< id of the text that says who recorded it (imported_origins.h); kNoName: not told
  friend bool operator==(const ImportedFacts&, const ImportedFacts&) = default;
};

struct LiveEvent {
  event::Kind kind = event::Kind::kNone;
  uint8_t flags = 0;        ///< event::Flag
  uint16_t name = kNoName;  ///< custom name, elastic type, checkpoint location, disruption cause
  int64_t boot_ns = 0;      ///< when it was recorded
  int64_t value = 0;  ///< step; exit value (kProcessExit); slice counts (kSliceCounts); id of the text (kDisruption)
  uint16_t lane = 0;
  uint64_t number = 0;         ///< of the head in its lane; attached slots have those before it
  bool has_wall_time = false;  ///< it carries a time of its own, other than that of its recording
  int64_t wall_ns = 0;
  int64_t duration_ns = 0;  ///< checkpoint statistics
  double tokens = std::numeric_limits<double>::quiet_NaN();
  double samples = std::numeric_limits<double>::quiet_NaN();
  double flops = std::numeric_limits<double>::quiet_NaN();
  bool is_imported = false;
  ImportedFacts imported{};

  [[nodiscard]] bool has_work() const { return tokens == tokens || samples == samples || flops == flops; }
  [[nodiscard]] bool has_times() const { return has_wall_time || duration_ns != 0; }
};

/// Three counts of 21 bits; what does not fit is cut to the largest that does.
struct SliceCounts {
  int64_t active = 0, total = 0, available = 0;
};
constexpr int kSliceBits = 21;
constexpr int64_t kMaxSlices = (int64_t{1} << kSliceBits) - 1;
constexpr int64_t pack_slices(const SliceCounts& counts) {
  const auto fit = [](int64_t n) { return n < 0 ? 0 : n > kMaxSlices ? kMaxSlices : n; };
  return fit(counts.active) | (fit(counts.total) << kSliceBits) | (fit(counts.available) << (2 * kSliceBits));
}
constexpr SliceCounts unpack_slices(int64_t value) {
  return {value & kMaxSlices, (value >> kSliceBits) & kMaxSlices, (value >> (2 * kSliceBits)) & kMaxSlices};
}

/// The slots of `event` in the order in which they stand, without checksum, time or place (attached slots have
/// neither). Returns how many.
inline unsigned encode_event(const LiveEvent& event, std::span<Slot, kMaxEventSlots> out) {
  unsigned count = 0;
  if (event.has_work()) {
    out[count++] = {pack_head(kWorkSlot, 0, 0, 0), std::bit_cast<uint64_t>(event.tokens),
                    std::bit_cast<uint64_t>(event.samples), std::bit_cast<uint64_t>(event.flops)};
  }
  if (event.has_times()) {
    out[count++] = {pack_head(kTimesSlot, 0, 0, 0), static_cast<uint64_t>(event.wall_ns),
                    static_cast<uint64_t>(event.duration_ns), event.has_wall_time ? 1U : 0U};
  }
  out[count] = {pack_head(static_cast<uint8_t>(event.kind), count, event.flags, event.name), 0,
                static_cast<uint64_t>(event.value), 0};
  return count + 1;
}

/// How many slots an event with this head takes.
constexpr unsigned slots_of(uint64_t head) { return head_attachments(head) + 1; }

/// What a word of a work slot tells. Whatever NaN stands there, what is not told has one form only: sealing leaves it
/// out.
inline double told_work(uint64_t word) {
  const auto value = std::bit_cast<double>(word);
  return value == value ? value : std::numeric_limits<double>::quiet_NaN();
}

/// The event of a head and of the attached slots directly before it, all of them intact. False when what is attached is
/// of a kind that this version does not know: the event stands without it.
inline bool decode_event(const Slot& head, std::span<const Slot> attached, LiveEvent& event) {
  event = LiveEvent{.kind = static_cast<event::Kind>(head_kind(head.head)),
                    .flags = head_flags(head.head),
                    .name = head_name(head.head),
                    .boot_ns = static_cast<int64_t>(head.boot_ns),
                    .value = static_cast<int64_t>(head.value),
                    .lane = place_lane(head.place),
                    .number = place_number(head.place)};
  bool known = true;
  for (const Slot& slot : attached) {
    if (head_kind(slot.head) == kWorkSlot) {
      event.tokens = told_work(slot.boot_ns);
      event.samples = told_work(slot.value);
      event.flops = told_work(slot.place);
    } else if (head_kind(slot.head) == kTimesSlot) {
      event.has_wall_time = (slot.place & 1) != 0;
      event.wall_ns = event.has_wall_time ? static_cast<int64_t>(slot.boot_ns) : 0;
      event.duration_ns = static_cast<int64_t>(slot.value);
    } else {
      known = false;
    }
  }
  return known;
}

}  // namespace goodput::journal
