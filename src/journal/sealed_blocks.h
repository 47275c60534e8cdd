// Blocks of a sealed file: framing, checksum and compression; what is inside them is others' concern.
//
//   append_block(file, seed, {.kind = BlockKind::kNames, .number = 0, .items = 12}, plain);
//
//   BlockScanner blocks(bytes, seed);                // steps over whatever is no block
//   while (const std::optional<BlockView> block = blocks.next()) {
//     if (decompressor.plain(*block, buffer)) …
//   }
//
// Decompressor and Compressor keep zstd's working memory: one of each per thread, used again and again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "journal/sealed_format.h"

namespace goodput::journal {

struct BlockView {
  RawBlock head{};
  size_t offset = 0;                  ///< of the head in the bytes that were scanned
  std::span<const std::byte> stored;  ///< behind the head
  [[nodiscard]] size_t bytes() const { return sizeof(RawBlock) + stored.size(); }
};

/// The block at `offset`, if there is one whose checksum is right.
std::optional<BlockView> block_at(std::span<const std::byte> bytes, size_t offset, uint32_t seed);

/// Every intact block of `bytes`, in order, wherever it begins.
class BlockScanner {
 public:
  BlockScanner(std::span<const std::byte> bytes, uint32_t seed) : bytes_(bytes), seed_(seed) {}
  std::optional<BlockView> next();

 private:
  std::span<const std::byte> bytes_;
  uint32_t seed_;
  size_t at_ = 0;
};

class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  /// What a block stores of `plain`: a zstd frame, or `plain` itself where that is not longer. Valid until the next
  /// call.
  struct Stored {
    std::span<const std::byte> bytes;
    bool is_compressed = false;
  };
  Stored store(std::span<const std::byte> plain);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> frame_;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  /// The plain bytes of a block, in `buffer` or where they stand. Nothing when they are not what the head says.
  std::optional<std::span<const std::byte>> plain(const BlockView& block, std::vector<std::byte>& buffer);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Appends a block with the stored form of what it holds; `head` brings kind, number and items.
void append_stored_block(std::vector<std::byte>& file, uint32_t seed, RawBlock head, const Compressor::Stored& stored,
                         size_t plain_bytes);

}  // namespace goodput::journal
