// Segments mutated at random: whatever is intact comes back, nothing else does, and what is gone is stated.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "journal/event_columns.h"
#include "journal/random_segment.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/sealed_blocks.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

/// 100,000 of both forms together; ten times that in the long variant.
size_t mutations() { return std::getenv("GOODPUT_SOAK") == nullptr ? 50'000 : 500'000; }

using Bytes = std::vector<std::byte>;

/// Changes `bytes` in one to three of the ways in which files are damaged; `other` is what gets mixed in.
class Mutator {
 public:
  Mutator(std::mt19937_64& random, const Bytes& other) : random_(random), other_(other) {}

  void mutate(Bytes& bytes) {
    for (size_t left = 1 + random_() % 3; left > 0 && !bytes.empty(); --left) mutate_once(bytes);
  }

 private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  /// A stretch that is a whole page half of the time.
  std::pair<size_t, size_t> stretch(size_t size) {
    if (random_() % 2 == 0 && size >= kPageBytes) return {below(size / kPageBytes) * kPageBytes, kPageBytes};
    const size_t begin = below(size);
    return {begin, std::min(size - begin, 1 + below(3 * kPageBytes))};
  }

  void mutate_once(Bytes& bytes) {
    const auto [begin, size] = stretch(bytes.size());
    const auto at = bytes.begin() + static_cast<ptrdiff_t>(begin);
    switch (random_() % 9) {
      case 0:  // bits
        for (size_t n = 1 + below(20); n > 0; --n) bytes[below(bytes.size())] ^= static_cast<std::byte>(1 << below(8));
        break;
      case 1:  // bytes
        for (size_t n = 1 + below(200); n > 0; --n) bytes[below(bytes.size())] = static_cast<std::byte>(random_());
        break;
      case 2:
        std::fill_n(at, size, std::byte{0});
        break;
      case 3:  // garbage in place
        std::generate_n(at, size, [&] { return static_cast<std::byte>(random_()); });
        break;
      case 4: {  // garbage inserted
        Bytes garbage(1 + below(300));
        std::generate(garbage.begin(), garbage.end(), [&] { return static_cast<std::byte>(random_()); });
        bytes.insert(at, garbage.begin(), garbage.end());
        break;
      }
      case 5: {  // a stretch stands somewhere else too, or instead
        const size_t to = stretch(bytes.size()).first;
        const Bytes copy(at, at + static_cast<ptrdiff_t>(size));
        if (random_() % 2 == 0) std::fill_n(at, size, std::byte{0});
        std::copy_n(copy.begin(), std::min(size, bytes.size() - to), bytes.begin() + static_cast<ptrdiff_t>(to));
        break;
      }
      case 6:  // another file's content, at its own place
        for (size_t i = begin; i < std::min(begin + size, other_.size()); ++i) bytes[i] = other_[i];
        break;
      case 7:  // two files spliced
        if (begin < other_.size()) {
          bytes.resize(begin);
          bytes.insert(bytes.end(), other_.begin() + static_cast<ptrdiff_t>(begin), other_.end());
        }
        break;
      default:
        bytes.resize(begin);
    }
  }

  std::mt19937_64& random_;
  const Bytes& other_;
};

uint64_t stated(const Segment& segment) {
  uint64_t events = 0;
  const Segment* one = &segment;
  for (const Loss& loss : joint_losses({&one, 1})) events += loss.events;
  return events;
}

/// The events of a live segment whose slots are as they were.
std::map<uint32_t, const LiveEvent*> intact_events(const std::vector<StoredEvent>& stored, const Bytes& before,
                                                   const Bytes& now) {
  std::map<uint32_t, const LiveEvent*> intact;
  for (const StoredEvent& event : stored) {
    const size_t slots = 1 + (event.event.has_work() ? 1 : 0) + (event.event.has_times() ? 1 : 0);
    const size_t end = (size_t{event.slot} + 1) * kSlotBytes, begin = end - slots * kSlotBytes;
    if (end <= now.size() &&
        std::equal(now.begin() + static_cast<ptrdiff_t>(begin), now.begin() + static_cast<ptrdiff_t>(end),
                   before.begin() + static_cast<ptrdiff_t>(begin))) {
      intact[event.slot] = &event.event;
    }
  }
  return intact;
}

/// A slot whose first word is zero, or in which a single bit is set, reads as never committed: only a later number of
/// its lane can tell.
bool looks_blank(const Bytes& bytes, uint32_t index) {
  if ((size_t{index} + 1) * kSlotBytes > bytes.size()) return false;
  Slot slot;
  std::memcpy(&slot, bytes.data() + size_t{index} * kSlotBytes, sizeof(slot));
  return slot.head == 0 || std::popcount(slot.head) + std::popcount(slot.boot_ns) + std::popcount(slot.value) +
                                   std::popcount(slot.place) ==
                               1;
}

TEST(Mutations, OfALiveSegmentExactlyTheIntactEventsComeBack) {
  std::mt19937_64 random(20'251);
  size_t without_loss = 0;
  for (size_t i = 0; i < mutations();) {
    const SegmentFixture own = random_live_segment(random, kMinSegmentBytes, 1);
    const SegmentFixture other = random_live_segment(random, kMinSegmentBytes, 2);
    const std::vector<StoredEvent> own_events = own.stored(), other_events = other.stored();
    const SegmentHint hint{own.live_header().journal_id, 1};
    Mutator mutator(random, other.bytes());
    for (size_t round = 0; round < 250; ++round, ++i) {
      Bytes bytes = own.bytes();
      mutator.mutate(bytes);
      const Result<Segment> got = recover_live(bytes, hint);
      ASSERT_TRUE(got.ok()) << i;
      const bool is_own = got->header.segment_number == 1;
      const auto intact =
          is_own ? intact_events(own_events, own.bytes(), bytes) : intact_events(other_events, other.bytes(), bytes);
      ASSERT_EQ(got->events.size(), intact.size()) << i;
      for (const StoredEvent& event : got->events) {
        ASSERT_TRUE(intact.contains(event.slot) && same_event(event.event, *intact.at(event.slot))) << i;
      }
      if (!is_own) continue;
      size_t traceable = 0;
      for (const StoredEvent& event : own_events) {
        if (!intact.contains(event.slot) && !looks_blank(bytes, event.slot)) ++traceable;
      }
      ASSERT_GE(stated(*got), traceable) << i;
      without_loss += traceable == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(without_loss, mutations() / 100);
  EXPECT_LT(without_loss, mutations() * 9 / 10);
}

/// The blocks of events of a sealed file, and what stands in them.
struct KnownBlock {
  Bytes bytes;
  std::vector<uint32_t> slots;
};
std::vector<KnownBlock> known_blocks(const Bytes& file, uint32_t seed) {
  std::vector<KnownBlock> blocks;
  BlockScanner scanner(file, seed);
  Decompressor decompressor;
  Bytes plain;
  EventColumns columns;
  while (const auto block = scanner.next()) {
    if (block->head.kind != BlockKind::kEvents) continue;
    KnownBlock& known = blocks.emplace_back();
    const auto at = file.begin() + static_cast<ptrdiff_t>(block->offset);
    known.bytes.assign(at, at + static_cast<ptrdiff_t>(block->bytes()));
    CHECK(decode_columns(*decompressor.plain(*block, plain), block->head.items, columns));
    for_each_event(columns, [&](const LiveEvent&, uint32_t slot) { known.slots.push_back(slot); });
  }
  return blocks;
}

TEST(Mutations, OfASealedSegmentExactlyTheIntactBlocksComeBack) {
  std::mt19937_64 random(4'711);
  for (size_t i = 0; i < mutations();) {
    Segment own = random_segment(random, kMinSegmentBytes);
    Segment other = random_segment(random, kMinSegmentBytes);
    other.header.segment_number = 2;
    const Bytes own_file = seal_segment(own), other_file = seal_segment(other);
    const std::vector<KnownBlock> own_blocks = known_blocks(own_file, own.header.seed());
    const std::vector<KnownBlock> other_blocks = known_blocks(other_file, other.header.seed());
    const SegmentHint hint{own.header.journal_id, 1};
    Mutator mutator(random, other_file);
    for (size_t round = 0; round < 250; ++round, ++i) {
      Bytes bytes = own_file;
      mutator.mutate(bytes);
      const Result<Segment> got = recover_sealed(bytes, hint);
      ASSERT_TRUE(got.ok()) << i;
      const bool is_own = got->header.segment_number == 1;
      std::set<uint32_t> intact;
      for (const KnownBlock& block : is_own ? own_blocks : other_blocks) {
        if (std::search(bytes.begin(), bytes.end(), block.bytes.begin(), block.bytes.end()) != bytes.end()) {
          intact.insert(block.slots.begin(), block.slots.end());
        }
      }
      ASSERT_EQ(got->events.size(), intact.size()) << i;
      const Segment& whole = is_own ? own : other;
      std::map<uint32_t, const LiveEvent*> by_slot;
      for (const StoredEvent& event : whole.events) by_slot[event.slot] = &event.event;
      for (const StoredEvent& event : got->events) {
        ASSERT_TRUE(intact.contains(event.slot) && same_event(event.event, *by_slot.at(event.slot))) << i;
      }
      ASSERT_GE(stated(*got), whole.events.size() - got->events.size()) << i;
    }
  }
}

}  // namespace
}  // namespace goodput::journal
