// The bytes of a sealed segment: every offset and constant of docs/formats/journal.md, "Sealed segments".
//
//   if (block.kind == BlockKind::kEvents && block.stored_bytes <= kMaxStoredBytes) …
//
// Constants only. The static_asserts hold the document and the code together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace goodput::journal {

constexpr std::array<char, 8> kSealedMagic = {'G', 'O', 'O', 'D', 'P', 'U', 'T', 'S'};
constexpr uint32_t kSealedVersion = 1;

/// Stands at both ends of a sealed file; the header of the live segment follows it each time.
struct RawSealedHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t used_bytes;  ///< this and the live header after it
  uint32_t file_bytes;
  uint32_t front_bytes;  ///< before the first block of events: what a reader needs before it picks blocks
  uint32_t events;
  uint32_t event_blocks;
  uint32_t reserved;
  uint32_t checksum;  ///< CRC32C of the used bytes with this field zero
};
static_assert(sizeof(RawSealedHeader) == 40);
static_assert(offsetof(RawSealedHeader, version) == 8);
static_assert(offsetof(RawSealedHeader, used_bytes) == 12);
static_assert(offsetof(RawSealedHeader, file_bytes) == 16);
static_assert(offsetof(RawSealedHeader, front_bytes) == 20);
static_assert(offsetof(RawSealedHeader, events) == 24);
static_assert(offsetof(RawSealedHeader, event_blocks) == 28);
static_assert(offsetof(RawSealedHeader, checksum) == 36);

/// Everything between the two headers is blocks, without gaps.
enum class BlockKind : uint8_t {
  kSummary = 1,  ///< counters, clock, losses
  kIndex = 2,    ///< where the blocks of events are and what times they hold
  kLanes = 3,
  kNames = 4,
  kEvents = 5,
};

struct RawBlock {
  uint32_t magic;
  uint32_t checksum;      ///< register seeded as in the live segment, fed the words after this field and what is stored
  uint32_t plain_bytes;   ///< of what is stored, decompressed
  uint16_t stored_bytes;  ///< after this head
  uint16_t number;        ///< among the blocks of its kind, from 0
  uint16_t items;         ///< events, names, …
  BlockKind kind;
  uint8_t is_compressed;  ///< 1: one zstd frame
};
static_assert(sizeof(RawBlock) == 20);
static_assert(offsetof(RawBlock, checksum) == 4);
static_assert(offsetof(RawBlock, plain_bytes) == 8);
static_assert(offsetof(RawBlock, stored_bytes) == 12);
static_assert(offsetof(RawBlock, number) == 14);
static_assert(offsetof(RawBlock, items) == 16);
static_assert(offsetof(RawBlock, kind) == 18);
static_assert(offsetof(RawBlock, is_compressed) == 19);

constexpr uint32_t kBlockMagic = 0x4b504781;  ///< 81 47 50 4b; a byte that no text has in front
/// With its head a block is at most a page: one damaged page costs at most two.
constexpr uint32_t kMaxStoredBytes = 4096 - sizeof(RawBlock);
/// A fixed cadence compresses to nothing: bounds what one damaged block costs, and a reader's buffers.
constexpr uint32_t kMaxBlockEvents = 4096;
/// Of any block, decompressed: more than 4,096 events with everything attached, at their longest.
constexpr uint32_t kMaxPlainBytes = 512 * 1024;
/// Numbers of eight bytes are at most this long in a block; their lengths take four bits each.
constexpr unsigned kMaxNumberBytes = 8;
/// Of an event: two times, three of work, four of an import.
constexpr unsigned kMaxAttachedNumbers = 9;
/// Distinct (kind, flags, attachments, name) in a block: their index is one byte.
constexpr unsigned kMaxShapes = 256;

/// Names, lanes, index entries: as many as fit this, so that they fit a block even when nothing compresses.
constexpr uint32_t kPlainPageBytes = 3968;

/// No sealed file is longer: a live segment of kMaxReadableSegmentBytes holds half a million events of at most 48
/// bytes.
constexpr uint32_t kMaxSealedBytes = 64 * 1024 * 1024;

}  // namespace goodput::journal
