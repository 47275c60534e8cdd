// The bytes of a live segment: every offset and constant of docs/formats/journal.md, "Live segments".
//
// Whoever writes or reads a live segment includes this and takes offsets from here, never from its own arithmetic.
//
//   const LiveLayout layout = live_layout(64 * 1024);
//   std::byte* run = base + layout.runs_offset + r * kRunBytes;      // r < layout.runs
//   const uint32_t seed = segment_seed(journal_id, segment_number);  // of every checksum in the segment
//
// Constants and pure functions only. The static_asserts hold the document and the code together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/checksum.h"

namespace goodput::journal {

constexpr std::array<char, 8> kLiveMagic = {'G', 'O', 'O', 'D', 'P', 'U', 'T', 'L'};
constexpr uint32_t kLiveVersion = 1;

/// Unit of everything that must fail alone: a page of the machines that train.
constexpr uint32_t kPageBytes = 4096;
constexpr uint32_t kSlotBytes = 32;
/// A run is what one lane fills before it asks for another. 4 KiB: 128 slots, so that asking costs 1 % of recording,
/// and 1,000 lanes that record one event each take 4 MiB.
constexpr uint32_t kRunBytes = kPageBytes;
constexpr uint32_t kRunSlots = kRunBytes / kSlotBytes;

/// 64 KiB: small enough for a thousand ranks on a shared disk. 1 MiB: 32,000 events, and 0.4 ms to prepare.
constexpr uint32_t kMinSegmentBytes = 64 * 1024;
constexpr uint32_t kMaxSegmentBytes = 1024 * 1024;
/// What a reader accepts; a header that claims more is damaged.
constexpr uint32_t kMaxReadableSegmentBytes = 16 * 1024 * 1024;

/// Inside the first page: header, counters, clock slots. The last page: the header and the counters again.
constexpr uint32_t kHeaderOffset = 0;
constexpr uint32_t kHeaderBytes = 2816;
constexpr uint32_t kCountersOffset = 2816;
constexpr uint32_t kCounterWords = 32;
constexpr uint32_t kClockSlotsOffset = 3072;
constexpr uint32_t kClockSlots = 32;
/// Clock slots 0 and 1 hold the latest pair in turn; from 2 on, one for each step of the wall clock.
constexpr uint32_t kFirstClockStepSlot = 2;
static_assert(kCountersOffset == kHeaderOffset + kHeaderBytes);
static_assert(kClockSlotsOffset == kCountersOffset + kCounterWords * sizeof(uint64_t));
static_assert(kClockSlotsOffset + kClockSlots * kSlotBytes == kPageBytes);

/// The fixed part of a header, as it stands in the file (little-endian). Strings follow it: each a uint16_t length and
/// its bytes, in the order of LiveHeader; then labels, key and value in turn.
struct RawHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t used_bytes;  ///< fixed part and strings
  std::array<uint8_t, 16> journal_id;
  uint32_t segment_number;  ///< from 1
  uint32_t segment_bytes;
  uint32_t definitions_bytes;  ///< of each of the two areas
  uint32_t header_flags;
  int64_t open_boot_ns;  ///< both clocks when the journal was opened: the same in all its segments
  int64_t open_wall_ns;
  int64_t pid;
  int64_t process_index;
  int64_t accelerators;  ///< -1: unknown
  uint32_t label_count;
  uint32_t checksum;  ///< CRC32C of the used bytes with this field zero
};
static_assert(sizeof(RawHeader) == 96);
static_assert(offsetof(RawHeader, version) == 8);
static_assert(offsetof(RawHeader, used_bytes) == 12);
static_assert(offsetof(RawHeader, journal_id) == 16);
static_assert(offsetof(RawHeader, segment_number) == 32);
static_assert(offsetof(RawHeader, segment_bytes) == 36);
static_assert(offsetof(RawHeader, definitions_bytes) == 40);
static_assert(offsetof(RawHeader, header_flags) == 44);
static_assert(offsetof(RawHeader, open_boot_ns) == 48);
static_assert(offsetof(RawHeader, open_wall_ns) == 56);
static_assert(offsetof(RawHeader, pid) == 64);
static_assert(offsetof(RawHeader, process_index) == 72);
static_assert(offsetof(RawHeader, accelerators) == 80);
static_assert(offsetof(RawHeader, label_count) == 88);
static_assert(offsetof(RawHeader, checksum) == 92);

/// Bits of RawHeader::header_flags.
constexpr uint32_t kStagedFlag = 1;  ///< written elsewhere and copied here once a second: readers wait 180 s, not 3
constexpr uint32_t kImportedFlag =
    2;  ///< a log that somebody else wrote: nobody writes it, and its events say whose they are
constexpr uint32_t kGrowingFlag = 4;  ///< imported, and the log goes on: segments are added, whoever lives or does not

/// Where the parts of a segment of `segment_bytes` stand.
struct LiveLayout {
  uint32_t segment_bytes = 0;
  uint32_t definitions_bytes = 0;
  uint32_t definitions_offset = 0;  ///< first copy
  uint32_t runs_offset = 0;
  uint32_t runs = 0;
  uint32_t mirror_definitions_offset = 0;
  uint32_t mirror_page_offset = 0;  ///< header and counters again, at the offsets that they have in the first page
};

/// For any multiple of a page from five pages up; `definitions_bytes` a multiple of a page.
constexpr LiveLayout live_layout(uint32_t segment_bytes, uint32_t definitions_bytes) {
  LiveLayout layout;
  layout.segment_bytes = segment_bytes;
  layout.definitions_bytes = definitions_bytes;
  layout.definitions_offset = kPageBytes;
  layout.runs_offset = kPageBytes + definitions_bytes;
  layout.mirror_page_offset = segment_bytes - kPageBytes;
  layout.mirror_definitions_offset = layout.mirror_page_offset - definitions_bytes;
  layout.runs = (layout.mirror_definitions_offset - layout.runs_offset) / kRunBytes;
  return layout;
}
/// As the recorder makes them: areas of 1/128 of the segment, but a page at least (170 names of 16 bytes).
constexpr LiveLayout live_layout(uint32_t segment_bytes) {
  const uint32_t share = segment_bytes / 128 / kPageBytes * kPageBytes;
  return live_layout(segment_bytes, share < kPageBytes ? kPageBytes : share);
}
static_assert(live_layout(kMinSegmentBytes).runs == 12);
static_assert(live_layout(kMinSegmentBytes).runs_offset == 8192);
static_assert(live_layout(kMinSegmentBytes).mirror_definitions_offset == 57344);
static_assert(live_layout(kMinSegmentBytes).mirror_page_offset == 61440);
static_assert(live_layout(kMaxSegmentBytes).runs == 250);

/// Start of every checksum of a segment: what is copied from another journal or segment never checks.
inline uint32_t segment_seed(const std::array<uint8_t, 16>& journal_id, uint32_t segment_number) {
  std::array<uint64_t, 2> words;
  std::memcpy(words.data(), journal_id.data(), journal_id.size());
  uint32_t seed = ~uint32_t{0};
  for (const uint64_t word : words) seed = crc32c_word(seed, word);
  return crc32c_word(seed, segment_number);
}

}  // namespace goodput::journal
