// SPDX-License-Identifier: Apache-2.0
#include "journal/sealed_blocks.h"

#include <zstd.h>

#include <cstring>

#include "base/checksum.h"
#include "base/status.h"

namespace goodput::journal {
namespace {

// Level 9 takes 1 % less on the reference stream and 2 % less with loads, at twice the time; level 1 the same as 3.
constexpr int kCompressionLevel = 3;

constexpr size_t kCheckedOffset = offsetof(RawBlock, plain_bytes);
static_assert(sizeof(RawBlock) - kCheckedOffset == 12);

uint32_t block_checksum(uint32_t seed, const RawBlock& head, std::span<const std::byte> stored) {
  std::array<std::byte, sizeof(RawBlock) - kCheckedOffset> checked;
  std::memcpy(checked.data(), reinterpret_cast<const std::byte*>(&head) + kCheckedOffset, checked.size());
  return ~crc32c(stored, crc32c(checked, ~seed));
}

}  // namespace

std::optional<BlockView> block_at(std::span<const std::byte> bytes, size_t offset, uint32_t seed) {
  BlockView block;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(RawBlock)) return std::nullopt;
  std::memcpy(&block.head, bytes.data() + offset, sizeof(RawBlock));
  const auto behind = bytes.subspan(offset + sizeof(RawBlock));
  if (block.head.magic != kBlockMagic || block.head.stored_bytes > behind.size()) return std::nullopt;
  block.offset = offset;
  block.stored = behind.first(block.head.stored_bytes);
  if (block.head.checksum != block_checksum(seed, block.head, block.stored)) return std::nullopt;
  return block;
}

std::optional<BlockView> BlockScanner::next() {
  constexpr auto kFirstMagicByte = static_cast<int>(kBlockMagic & 0xff);
  while (at_ < bytes_.size()) {
    if (std::optional<BlockView> block = block_at(bytes_, at_, seed_)) {
      at_ += block->bytes();
      return block;
    }
    const void* next = std::memchr(bytes_.data() + at_ + 1, kFirstMagicByte, bytes_.size() - at_ - 1);
    at_ = next == nullptr ? bytes_.size() : static_cast<size_t>(static_cast<const std::byte*>(next) - bytes_.data());
  }
  return std::nullopt;
}

struct Compressor::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  ~Context() { ZSTD_freeCCtx(zstd); }
};

Compressor::Compressor() : context_(std::make_unique<Context>()) {}
Compressor::~Compressor() = default;

Compressor::Stored Compressor::store(std::span<const std::byte> plain) {
  frame_.resize(ZSTD_compressBound(plain.size()));
  const size_t size = context_->zstd == nullptr ? plain.size()
                                                : ZSTD_compressCCtx(context_->zstd, frame_.data(), frame_.size(),
                                                                    plain.data(), plain.size(), kCompressionLevel);
  if (context_->zstd == nullptr || ZSTD_isError(size) != 0 || size >= plain.size()) return {plain, false};
  return {std::span(frame_).first(size), true};
}

struct Decompressor::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~Context() { ZSTD_freeDCtx(zstd); }
};

Decompressor::Decompressor() : context_(std::make_unique<Context>()) {}
Decompressor::~Decompressor() = default;

std::optional<std::span<const std::byte>> Decompressor::plain(const BlockView& block, std::vector<std::byte>& buffer) {
  if (block.head.is_compressed == 0) {
    if (block.head.plain_bytes != block.stored.size()) return std::nullopt;
    return block.stored;
  }
  if (block.head.plain_bytes > kMaxPlainBytes || context_->zstd == nullptr) return std::nullopt;
  if (buffer.size() < block.head.plain_bytes) buffer.resize(block.head.plain_bytes);
  const size_t size = ZSTD_decompressDCtx(context_->zstd, buffer.data(), block.head.plain_bytes, block.stored.data(),
                                          block.stored.size());
  if (ZSTD_isError(size) != 0 || size != block.head.plain_bytes) return std::nullopt;
  return std::span<const std::byte>(buffer).first(size);
}

void append_stored_block(std::vector<std::byte>& file, uint32_t seed, RawBlock head, const Compressor::Stored& stored,
                         size_t plain_bytes) {
  head.magic = kBlockMagic;
  head.plain_bytes = static_cast<uint32_t>(plain_bytes);
  head.stored_bytes = static_cast<uint16_t>(stored.bytes.size());
  head.is_compressed = stored.is_compressed ? 1 : 0;
  head.checksum = block_checksum(seed, head, stored.bytes);
  const auto raw = std::as_bytes(std::span(&head, 1));
  file.insert(file.end(), raw.begin(), raw.end());
  file.insert(file.end(), stored.bytes.begin(), stored.bytes.end());
}

}  // namespace goodput::journal
