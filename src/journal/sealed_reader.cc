// SPDX-License-Identifier: Apache-2.0
#include "journal/sealed_reader.h"

#include <algorithm>
#include <set>

#include "journal/recover.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

// Most fronts fit: a header of 300 bytes, 14 bytes of index for each of some 30 blocks, a few names.
constexpr size_t kFirstReadBytes = 4096;

}  // namespace

Result<SealedReader> SealedReader::open(const File& file, const SegmentHint& hint, Mode mode,
                                        Decompressor& decompressor) {
  SealedReader reader(file, hint, decompressor);
  RETURN_IF_ERROR(reader.read_front(mode));
  if (!reader.take_front()) RETURN_IF_ERROR(reader.recover_all());
  return reader;
}

Status SealedReader::read_front(Mode mode) {
  size_t wanted = kFirstReadBytes;
  if (mode == Mode::kWhole) {
    ASSIGN_OR_RETURN(const FileFacts facts, file_->facts());
    wanted = std::min<uint64_t>(facts.size_bytes, kMaxSealedBytes);
  }
  bytes_.resize(wanted);
  ASSIGN_OR_RETURN(const size_t got, file_->read_at(0, bytes_));
  bytes_.resize(got);
  return {};
}

bool SealedReader::take_front() {
  Result<SealedHeader> header = read_sealed_header(bytes_);
  if (!header.ok() || header->live.seed() != segment_seed(hint_.journal_id, hint_.segment_number)) return false;
  front_.header = std::move(header->live);
  const size_t front_bytes = header->sizes.front_bytes;
  if (bytes_.size() < front_bytes) {
    const size_t had = bytes_.size();
    bytes_.resize(front_bytes);
    const Result<size_t> got = file_->read_at(had, std::span(bytes_).subspan(had));
    if (!got.ok() || *got != front_bytes - had) return false;
  }
  uint32_t next_block = static_cast<uint32_t>(front_bytes);
  for (size_t at = header->used_bytes; at < front_bytes;) {
    const std::optional<BlockView> block = block_at(std::span(bytes_).first(front_bytes), at, front_.header.seed());
    if (!block) return false;
    at += block->bytes();
    std::optional<std::span<const std::byte>> plain = decompressor_->plain(*block, plain_);
    if (!plain) return false;
    switch (block->head.kind) {
      case BlockKind::kSummary:
        if (!take_summary(*plain, front_)) return false;
        break;
      case BlockKind::kLanes:
        if (!take_lanes(*plain, front_)) return false;
        break;
      case BlockKind::kNames:
        if (!take_names(*plain, front_)) return false;
        break;
      case BlockKind::kIndex:
        while (!plain->empty()) {
          if (!take_facts(*plain, next_block, blocks_.emplace_back())) return false;
          next_block += blocks_.back().bytes;
        }
        break;
      default:
        break;
    }
  }
  return blocks_.size() == header->sizes.event_blocks;
}

bool SealedReader::read(size_t block, EventColumns& columns) {
  const BlockFacts& facts = blocks_[block];
  std::span<const std::byte> bytes;
  if (bytes_.size() >= size_t{facts.offset} + facts.bytes) {
    bytes = std::span(bytes_).subspan(facts.offset, facts.bytes);
  } else {
    block_bytes_.resize(facts.bytes);
    const Result<size_t> got = file_->read_at(facts.offset, block_bytes_);
    if (!got.ok()) return false;
    bytes = std::span(block_bytes_).first(*got);
  }
  const std::optional<BlockView> view = block_at(bytes, 0, front_.header.seed());
  if (!view || view->head.kind != BlockKind::kEvents || view->head.items != facts.events) return false;
  const auto plain = decompressor_->plain(*view, plain_);
  return plain && decode_columns(*plain, view->head.items, columns);
}

/// The front does not say all that it should: takes whatever is intact anywhere in the file.
Status SealedReader::recover_all() {
  RETURN_IF_ERROR(read_front(Mode::kWhole));
  ASSIGN_OR_RETURN(Segment whole, recover_sealed(bytes_, hint_));
  blocks_.clear();
  BlockScanner scanner(bytes_, whole.header.seed());
  std::vector<std::pair<uint16_t, BlockFacts>> found;
  EventColumns columns;
  while (const std::optional<BlockView> block = scanner.next()) {
    if (block->head.kind != BlockKind::kEvents) continue;
    const auto plain = decompressor_->plain(*block, plain_);
    if (!plain || !decode_columns(*plain, block->head.items, columns)) continue;
    std::vector<StoredEvent> events;
    for_each_event(columns, [&](const LiveEvent& event, uint32_t slot) { events.push_back({event, slot}); });
    found.emplace_back(block->head.number,
                       facts_of(events, static_cast<uint32_t>(block->offset), static_cast<uint32_t>(block->bytes())));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || found[i].first != found[i - 1].first) blocks_.push_back(found[i].second);
  }
  whole.events.clear();
  front_ = std::move(whole);
  return {};
}

}  // namespace goodput::journal
