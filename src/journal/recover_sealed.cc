// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>

#include "journal/event_columns.h"
#include "journal/recover.h"
#include "journal/sealed_blocks.h"
#include "journal/sealed_index.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

class SealedRecovery {
 public:
  SealedRecovery(std::span<const std::byte> bytes, std::optional<SealedHeader> header, Segment& segment)
      : bytes_(bytes), header_(std::move(header)), segment_(&segment) {}

  void run() {
    find_blocks();
    read_pages();
    for (const auto& [number, block] : events_) read_events(block);
    if (segment_->lanes.lanes().empty()) lanes_of_events();
    state_lost_blocks();
    state_lost_names(*segment_);
  }

 private:
  /// The first intact block of each kind and number.
  void find_blocks() {
    BlockScanner scanner(bytes_, segment_->header.seed());
    while (const std::optional<BlockView> block = scanner.next()) {
      if (block->head.kind == BlockKind::kEvents) {
        events_.try_emplace(block->head.number, *block);
      } else {
        pages_.try_emplace({block->head.kind, block->head.number}, *block);
      }
    }
  }

  void read_pages() {
    for (const auto& [key, block] : pages_) {
      const auto plain = decompressor_.plain(block, buffer_);
      if (!plain) continue;
      switch (key.first) {
        case BlockKind::kSummary:
          take_summary(*plain, *segment_);
          break;
        case BlockKind::kLanes:
          take_lanes(*plain, *segment_);
          break;
        case BlockKind::kNames:
          take_names(*plain, *segment_);
          break;
        case BlockKind::kIndex:
          read_index(*plain);
          break;
        case BlockKind::kEvents:
          break;
      }
    }
  }

  void read_index(std::span<const std::byte> plain) {
    BlockFacts facts;
    while (!plain.empty() && take_facts(plain, 0, facts)) {
      indexed_events_ += facts.events;
      ++indexed_blocks_;
    }
  }

  void read_events(const BlockView& block) {
    const auto plain = decompressor_.plain(block, buffer_);
    if (!plain || !decode_columns(*plain, block.head.items, columns_)) return;
    ++read_blocks_;
    for_each_event(columns_, [&](const LiveEvent& event, uint32_t slot) {
      ++read_events_;
      if (event.kind > event::kLastKind || event.kind == event::Kind::kNone) {
        add_loss(segment_->losses, {.reason = LossReason::kUnknownKind, .events = 1, .bytes = kSlotBytes});
        return;
      }
      segment_->events.push_back({event, slot});
    });
  }

  void lanes_of_events() {
    for (const StoredEvent& stored : segment_->events) {
      const uint64_t slots = 1 + (stored.event.has_work() ? 1 : 0) + (stored.event.has_times() ? 1 : 0);
      const uint64_t end = stored.event.number + 1;
      segment_->lanes.add(stored.event.lane, end < slots ? 0 : end - slots, end, slots);
    }
  }

  /// The header says how many events there were, and without it the index; without both there were at most as many as
  /// the largest segment that a recorder makes has slots.
  void state_lost_blocks() {
    const bool exact = header_.has_value() || indexed_blocks_ > 0;
    const uint64_t blocks = header_ ? header_->sizes.event_blocks : indexed_blocks_;
    if (exact && blocks <= read_blocks_) return;
    const uint64_t events = header_ ? header_->sizes.events : exact ? indexed_events_ : kMaxSegmentBytes / kSlotBytes;
    const bool cut = header_ && bytes_.size() < header_->sizes.file_bytes;
    add_loss(segment_->losses, {.reason = cut ? LossReason::kCutShort : LossReason::kDamagedBlock,
                                .at_most = !exact,
                                .events = events > read_events_ ? events - read_events_ : 0,
                                .bytes = cut     ? header_->sizes.file_bytes - bytes_.size()
                                         : exact ? (blocks - read_blocks_) * (sizeof(RawBlock) + kMaxStoredBytes)
                                                 : 0});
  }

  std::span<const std::byte> bytes_;
  std::optional<SealedHeader> header_;
  Segment* segment_;
  std::map<uint16_t, BlockView> events_;
  std::map<std::pair<BlockKind, uint16_t>, BlockView> pages_;
  Decompressor decompressor_;
  std::vector<std::byte> buffer_;
  EventColumns columns_;
  uint64_t read_blocks_ = 0, read_events_ = 0;
  uint64_t indexed_blocks_ = 0, indexed_events_ = 0;
};

}  // namespace

namespace {

uint64_t count_blocks(std::span<const std::byte> bytes, uint32_t seed) {
  uint64_t count = 0;
  BlockScanner scanner(bytes, seed);
  while (scanner.next()) ++count;
  return count;
}

}  // namespace

Result<Segment> recover_sealed(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint) {
  Segment segment;
  std::vector<SealedHeader> headers = find_sealed_headers(bytes);
  const Status failure = headers.empty() ? find_sealed_header(bytes).status() : Status();
  if (failure.code() == StatusCode::kUnsupported || (headers.empty() && !hint)) return failure;
  // As for live segments: where headers and hint disagree, the one with which most blocks check.
  std::optional<SealedHeader> chosen;
  uint64_t most = 0;
  bool disagree = false;
  for (const SealedHeader& header : headers) {
    disagree = disagree || header.live.seed() != headers.front().live.seed() ||
               (hint && header.live.seed() != segment_seed(hint->journal_id, hint->segment_number));
  }
  for (SealedHeader& header : headers) {
    const uint64_t blocks = disagree ? count_blocks(bytes, header.live.seed()) : 1;
    if (blocks <= most && chosen) continue;
    most = blocks;
    chosen = std::move(header);
  }
  if (hint && disagree && count_blocks(bytes, segment_seed(hint->journal_id, hint->segment_number)) > most)
    chosen.reset();
  if (chosen) {
    segment.header = chosen->live;
  } else {
    segment.header.journal_id = hint->journal_id;
    segment.header.segment_number = hint->segment_number;
    add_loss(segment.losses, {.reason = LossReason::kDamagedHeader, .bytes = 2 * sizeof(RawSealedHeader)});
  }
  SealedRecovery(bytes, std::move(chosen), segment).run();
  return segment;
}

Result<Segment> recover_segment(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint) {
  const Result<SealedHeader> sealed = find_sealed_header(bytes);
  if (sealed.ok() || sealed.status().code() == StatusCode::kUnsupported) return recover_sealed(bytes, hint);
  return recover_live(bytes, hint);
}

}  // namespace goodput::journal
