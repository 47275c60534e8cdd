// A live segment in memory, written slot by slot as the recorder writes it; for tests.
//
//   SegmentFixture live(SegmentFixture::header(), 2);       // 64 KiB, two lanes
//   live.define(1, "eval");
//   live.append({.kind = Kind::kStepStart, .boot_ns = 7, .value = 3});            // lane 0
//   live.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = 9, .lane = 1});
//   recover_live(live.bytes());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "journal/definitions.h"
#include "journal/segment.h"

namespace goodput::journal {

/// Makes the header that begins `bytes` one of another format version.
inline void set_header_version(std::span<std::byte> bytes, uint32_t version) {
  RawHeader raw;
  std::memcpy(&raw, bytes.data(), sizeof(raw));
  raw.version = version;
  std::memcpy(bytes.data(), &raw, sizeof(raw));
  raw.checksum = crc32c_around(bytes.first(raw.used_bytes), offsetof(RawHeader, checksum));
  std::memcpy(bytes.data(), &raw, sizeof(raw));
}

class SegmentFixture {
 public:
  static LiveHeader header(uint32_t segment_number = 1, uint32_t segment_bytes = kMinSegmentBytes) {
    LiveHeader made{.segment_number = segment_number,
                    .segment_bytes = segment_bytes,
                    .definitions_bytes = live_layout(segment_bytes).definitions_bytes,
                    .open_boot_ns = 5'000'000'000,
                    .open_wall_ns = 1'767'225'600'000'000'000,
                    .pid = 4242,
                    .job = "llama-7b",
                    .attempt_id = "77.0",
                    .host = "node-3",
                    .boot_id = "0d8a4b5e-5d3c-4f53-a7fd-2a5f0c3a9f11",
                    .writer = "goodput 0.1.0"};
    for (size_t i = 0; i < made.journal_id.size(); ++i) made.journal_id[i] = static_cast<uint8_t>(0x10 + i);
    return made;
  }

  explicit SegmentFixture(LiveHeader header) : header_(std::move(header)), bytes_(header_.segment_bytes) {
    std::array<std::byte, kHeaderBytes> copy;
    encode_header(header_, copy);
    std::memcpy(bytes_.data(), copy.data(), copy.size());
    std::memcpy(bytes_.data() + layout().mirror_page_offset, copy.data(), copy.size());
  }

  void define(uint16_t id, std::string_view text) {
    put_definition(bytes_.data() + layout().definitions_offset, bytes_.data() + layout().mirror_definitions_offset,
                   definitions_, id, text, header_.seed());
    definitions_ += definition_bytes(text);
  }

  /// False when the segment is full. The number in the lane is set here.
  bool append(LiveEvent event) {
    std::array<Slot, kMaxEventSlots> slots;
    const unsigned count = encode_event(event, slots);
    Lane& lane = lanes_[event.lane];
    if (lane.slots_left < count && !next_run(lane)) return false;
    for (unsigned i = 0; i < count; ++i) {
      Slot& slot = slots[i];
      if (i + 1 == count) {
        slot.boot_ns = static_cast<uint64_t>(event.boot_ns);
        slot.place = pack_place(event.lane, lane.number);
      }
      put(lane.slot++, slot);
      ++lane.number;
      --lane.slots_left;
    }
    event.number = lane.number - 1;
    stored_.push_back({event, lane.slot - 1});
    return true;
  }

  void put_clock_slot(uint32_t clock_slot, const Slot& slot) {
    std::memcpy(bytes_.data() + kClockSlotsOffset + size_t{clock_slot} * kSlotBytes, &slot, sizeof(slot));
  }
  void alive_at(ClockPair pair, int64_t count) {
    const auto clock_slot = static_cast<uint32_t>(count % 2);
    put_clock_slot(clock_slot, make_clock_pair(header_.seed(), clock_slot, count, pair));
  }
  void put_counter(Counter counter, uint64_t count) {
    const uint64_t word = pack_counter(header_.seed(), counter, count);
    for (const size_t page : {size_t{0}, size_t{layout().mirror_page_offset}}) {
      std::memcpy(bytes_.data() + page + kCountersOffset + static_cast<size_t>(counter) * 8, &word, sizeof(word));
    }
  }
  /// Lanes of the journal's next segment go on with their numbers.
  void continue_from(const SegmentFixture& before) {
    for (const auto& [id, lane] : before.lanes_) lanes_[id].number = lane.number;
  }

  /// Of the event that was appended last.
  [[nodiscard]] uint64_t last_number() const { return stored_.back().event.number; }
  [[nodiscard]] LiveLayout layout() const { return header_.layout(); }
  [[nodiscard]] const LiveHeader& live_header() const { return header_; }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  /// What was appended, by slot.
  [[nodiscard]] std::vector<StoredEvent> stored() const {
    std::vector<StoredEvent> sorted = stored_;
    std::sort(sorted.begin(), sorted.end(), [](const StoredEvent& a, const StoredEvent& b) { return a.slot < b.slot; });
    return sorted;
  }

 private:
  struct Lane {
    uint32_t slot = 0;  // next, as index in the file
    uint32_t slots_left = 0;
    uint64_t number = 0;
  };

  bool next_run(Lane& lane) {
    if (runs_ == layout().runs) return false;
    if (lane.slots_left > 0) {  // as the recorder does: a place that could not be used
      Slot skipped{pack_head(kSkippedSlot, 0, 0, 0), 0, 0, pack_place(lane_id(lane), lane.number)};
      for (; lane.slots_left > 0; --lane.slots_left) {
        skipped.place = pack_place(lane_id(lane), lane.number++);
        put(lane.slot++, skipped);
      }
    }
    lane.slot = (layout().runs_offset + runs_++ * kRunBytes) / kSlotBytes;
    lane.slots_left = kRunSlots;
    return true;
  }
  [[nodiscard]] uint16_t lane_id(const Lane& lane) const {
    for (const auto& [id, candidate] : lanes_) {
      if (&candidate == &lane) return id;
    }
    return 0;
  }
  void put(uint32_t index, Slot slot) {
    slot.head &= ~uint64_t{0xffff'ffff};
    slot.head |= slot_checksum(header_.seed(), index, slot);
    std::memcpy(bytes_.data() + size_t{index} * kSlotBytes, &slot, sizeof(slot));
  }

  LiveHeader header_;
  std::vector<std::byte> bytes_;
  std::map<uint16_t, Lane> lanes_;
  std::vector<StoredEvent> stored_;
  uint32_t definitions_ = 0;
  uint32_t runs_ = 0;
};

/// NaN-safe equality of what a slot stores.
inline bool same_event(const LiveEvent& a, const LiveEvent& b) {
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  return a.kind == b.kind && a.flags == b.flags && a.name == b.name && a.boot_ns == b.boot_ns && a.value == b.value &&
         a.lane == b.lane && a.number == b.number && a.has_wall_time == b.has_wall_time && a.wall_ns == b.wall_ns &&
         a.duration_ns == b.duration_ns && bits(a.tokens) == bits(b.tokens) && bits(a.samples) == bits(b.samples) &&
         bits(a.flops) == bits(b.flops) && a.is_imported == b.is_imported && a.imported == b.imported;
}

}  // namespace goodput::journal
