// Reads a sealed segment block by block: the fast way to its events, or to those of a range of time.
//
//   ASSIGN_OR_RETURN(SealedReader reader, SealedReader::open(*file, hint, SealedReader::Mode::kBlocks, zstd));
//   for (size_t i = 0; i < reader.blocks().size(); ++i) {
//     if (!reader.read(i, columns)) losses.push_back(…);        // damaged: blocks()[i] says what is lost
//   }
//
// File and decompressor must outlive the reader. Where the front of the file is damaged the reader falls back to
// recovery from all of it, and gives the same. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/file_system.h"
#include "journal/event_columns.h"
#include "journal/sealed_blocks.h"
#include "journal/sealed_index.h"
#include "journal/segment.h"

namespace goodput::journal {

class SealedReader {
 public:
  enum class Mode : uint8_t {
    kBlocks,  ///< some blocks will be read: the front now, each block when it is asked for
    kWhole,   ///< most will be: the whole file in one read
  };

  /// kUnsupported: a newer format version. kUnreadable: nothing in it can be checked.
  static Result<SealedReader> open(const File& file, const SegmentHint& hint, Mode mode, Decompressor& decompressor);

  /// Everything but the events. Losses as they were when it was sealed; after damage to the front, all that there are.
  [[nodiscard]] const Segment& front() const { return front_; }
  /// Blocks in the order of their slots. After damage to the front, those that are intact.
  [[nodiscard]] std::span<const BlockFacts> blocks() const { return blocks_; }

  /// False when the block is damaged.
  bool read(size_t block, EventColumns& columns);

 private:
  SealedReader(const File& file, const SegmentHint& hint, Decompressor& decompressor)
      : file_(&file), hint_(hint), decompressor_(&decompressor) {}

  Status read_front(Mode mode);
  bool take_front();
  Status recover_all();

  const File* file_;
  SegmentHint hint_;
  Decompressor* decompressor_;
  Segment front_;
  std::vector<BlockFacts> blocks_;
  std::vector<std::byte> bytes_;  // of the file from its beginning: all, or its front
  std::vector<std::byte> block_bytes_;
  std::vector<std::byte> plain_;
};

}  // namespace goodput::journal
