// SPDX-License-Identifier: Apache-2.0
#include "journal/seal.h"

#include <algorithm>

#include "journal/event_columns.h"
#include "journal/sealed_blocks.h"
#include "journal/sealed_index.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

/// Blocks of small items: as many in each as fit for certain.
class PageWriter {
 public:
  PageWriter(BlockKind kind, uint32_t seed, Compressor& compressor, std::vector<std::byte>& out)
      : kind_(kind), seed_(seed), compressor_(&compressor), out_(&out) {}

  void add(std::span<const std::byte> item) {
    if (plain_.size() + item.size() > kPlainPageBytes && items_ > 0) flush();
    plain_.insert(plain_.end(), item.begin(), item.end());
    ++items_;
  }
  void finish() {
    if (items_ > 0) flush();
  }

 private:
  void flush() {
    const RawBlock head{.magic = 0,
                        .checksum = 0,
                        .plain_bytes = 0,
                        .stored_bytes = 0,
                        .number = number_++,
                        .items = items_,
                        .kind = kind_,
                        .is_compressed = 0};
    append_stored_block(*out_, seed_, head, compressor_->store(plain_), plain_.size());
    plain_.clear();
    items_ = 0;
  }

  BlockKind kind_;
  uint32_t seed_;
  Compressor* compressor_;
  std::vector<std::byte>* out_;
  std::vector<std::byte> plain_;
  uint16_t number_ = 0;
  uint16_t items_ = 0;
};

class Sealer {
 public:
  explicit Sealer(const Segment& segment) : segment_(&segment), seed_(segment.header.seed()) {}

  std::vector<std::byte> seal() {
    write_events();
    std::vector<std::byte> summary, index, lanes, names;
    write_summary(summary);
    write_index(index);
    write_lanes(lanes);
    write_names(names);

    const uint32_t header_bytes = sealed_header_bytes(segment_->header);
    const size_t front_bytes = header_bytes + summary.size() + index.size() + lanes.size() + names.size();
    const size_t file_bytes =
        front_bytes + events_.size() + names.size() + lanes.size() + summary.size() + header_bytes;
    const SealedSizes sizes{.file_bytes = static_cast<uint32_t>(file_bytes),
                            .front_bytes = static_cast<uint32_t>(front_bytes),
                            .events = static_cast<uint32_t>(segment_->events.size()),
                            .event_blocks = static_cast<uint32_t>(blocks_.size())};
    std::vector<std::byte> file;
    file.reserve(file_bytes);
    append_sealed_header(file, sizes, segment_->header);
    for (const auto* part : {&summary, &index, &lanes, &names, &events_, &names, &lanes, &summary}) {
      file.insert(file.end(), part->begin(), part->end());
    }
    append_sealed_header(file, sizes, segment_->header);
    return file;
  }

 private:
  struct Block {
    std::vector<std::byte> stored;
    bool is_compressed = false;
    size_t plain_bytes = 0;
  };

  void write_events() {
    std::span<const StoredEvent> left(segment_->events);
    while (!left.empty()) left = left.subspan(write_block(left));
  }

  /// Writes the largest block that it finds in a few tries from the front of `left`; returns how many events it took.
  size_t write_block(std::span<const StoredEvent> left) {
    // Aims just below the limit: between 90 % and 99 % the size of a file does not change, and another try takes 30 µs.
    constexpr size_t kGoodEnoughBytes = kMaxStoredBytes * 97 / 100;
    constexpr int kTries = 4;
    const size_t most = max_block_events(left);
    size_t fits = 0, too_many = most + 1;
    size_t guess = std::min(most, guess_);
    Block best;
    for (int tries = 0; fits + 1 < too_many && (fits == 0 || tries < kTries); ++tries) {
      guess = std::clamp(guess, fits + 1, too_many - 1);
      plain_.clear();
      encode_columns(left.first(guess), plain_);
      const Compressor::Stored stored = compressor_.store(plain_);
      const size_t stored_bytes = stored.bytes.size();
      if (stored_bytes <= kMaxStoredBytes) {
        fits = guess;
        best = {{stored.bytes.begin(), stored.bytes.end()}, stored.is_compressed, plain_.size()};
        if (stored_bytes >= kGoodEnoughBytes) break;
      } else {
        too_many = guess;
      }
      guess = guess * (kMaxStoredBytes * 99 / 100) / std::max<size_t>(stored_bytes, 1);
    }
    guess_ = fits;
    const auto offset = static_cast<uint32_t>(events_.size());
    const RawBlock head{.magic = 0,
                        .checksum = 0,
                        .plain_bytes = 0,
                        .stored_bytes = 0,
                        .number = static_cast<uint16_t>(blocks_.size()),
                        .items = static_cast<uint16_t>(fits),
                        .kind = BlockKind::kEvents,
                        .is_compressed = 0};
    append_stored_block(events_, seed_, head, {best.stored, best.is_compressed}, best.plain_bytes);
    blocks_.push_back(facts_of(left.first(fits), offset, static_cast<uint32_t>(events_.size()) - offset));
    return fits;
  }

  void write_summary(std::vector<std::byte>& out) {
    std::vector<std::byte> item;
    append_summary(*segment_, item);
    PageWriter pages(BlockKind::kSummary, seed_, compressor_, out);
    pages.add(item);
    pages.finish();
  }
  void write_index(std::vector<std::byte>& out) {
    PageWriter pages(BlockKind::kIndex, seed_, compressor_, out);
    for (const BlockFacts& facts : blocks_) {
      std::vector<std::byte> item;
      append_facts(facts, item);
      pages.add(item);
    }
    pages.finish();
  }
  void write_lanes(std::vector<std::byte>& out) {
    PageWriter pages(BlockKind::kLanes, seed_, compressor_, out);
    for (const LaneExtent& lane : segment_->lanes.lanes()) {
      std::vector<std::byte> item;
      append_lane(lane, item);
      pages.add(item);
    }
    pages.finish();
  }
  void write_names(std::vector<std::byte>& out) {
    PageWriter pages(BlockKind::kNames, seed_, compressor_, out);
    for (const auto& [id, text] : segment_->names.texts()) {
      std::vector<std::byte> item;
      append_name(id, text, item);
      pages.add(item);
    }
    pages.finish();
  }

  const Segment* segment_;
  uint32_t seed_;
  Compressor compressor_;
  std::vector<std::byte> events_;
  std::vector<BlockFacts> blocks_;
  std::vector<std::byte> plain_;
  size_t guess_ = 1'250;  // events of the reference stream in a block
};

}  // namespace

std::vector<std::byte> seal_segment(const Segment& segment) { return Sealer(segment).seal(); }

}  // namespace goodput::journal
