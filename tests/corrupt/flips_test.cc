// Every single bit of a segment flipped, and every length that a cut may leave of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "journal/recovery_fixture.h"
#include "journal/sealed_fixture.h"

namespace goodput::journal {
namespace {

// The promise to the bit: 524,288 flips.
TEST_F(Recovery, AFlippedBitLosesTheTouchedEventOrNothing) {
  SegmentFixture live = small_segment();
  const std::vector<StoredEvent> stored = live.stored();
  std::vector<std::byte>& bytes = live.bytes();
  std::vector<bool> is_event_slot(bytes.size() / kSlotBytes);  // heads and what is attached to them
  for (const StoredEvent& event : stored) {
    const unsigned taken = 1 + (event.event.has_work() ? 1 : 0) + (event.event.has_times() ? 1 : 0);
    for (unsigned k = 0; k < taken; ++k) is_event_slot[event.slot - k] = true;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    bytes[bit / 8] ^= mask;
    const Segment segment = recover(bytes);
    const size_t expected = is_event_slot[bit / 8 / kSlotBytes] ? 1 : 0;
    ASSERT_EQ(absent(stored, segment.events), expected) << "bit " << bit;
    ASSERT_EQ(lost_events(segment), expected) << "bit " << bit;
    ASSERT_EQ(segment.names.lost(), 0u) << "bit " << bit;
    ASSERT_EQ(segment.names[4], "node-3 is going away") << "bit " << bit;
    ASSERT_EQ(segment.counters[Counter::kNoSpace], 3u) << "bit " << bit;
    ASSERT_EQ(segment.header, live.live_header()) << "bit " << bit;
    ASSERT_GE(segment.clock.pairs, 1) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

TEST_F(Recovery, ATruncatedSegmentKeepsWhatIsBelowTheCut) {
  SegmentFixture live = small_segment();
  const std::vector<StoredEvent> stored = live.stored();
  for (size_t size = 0; size < live.bytes().size(); ++size) {
    const Segment segment = recover(std::span(live.bytes()).first(size));
    const auto below = static_cast<size_t>(std::count_if(stored.begin(), stored.end(), [&](const StoredEvent& event) {
      return (size_t{event.slot} + 1) * kSlotBytes <= size;
    }));
    ASSERT_EQ(segment.events.size(), below) << size;
    const size_t gone = absent(stored, segment.events);
    const auto cut = std::find_if(segment.losses.begin(), segment.losses.end(),
                                  [](const Loss& loss) { return loss.reason == LossReason::kCutShort; });
    ASSERT_NE(cut, segment.losses.end()) << size;
    EXPECT_TRUE(cut->at_most);
    ASSERT_GE(cut->events, gone) << size;
    ASSERT_LE(cut->events, 12u * kRunSlots) << size;
  }
}

TEST_F(SealedDamage, AFlippedBitLosesAtMostOneBlock) {
  ASSERT_GE(blocks_, 3u);
  const uint64_t stated_before = stated(recover_sealed(file_).value());
  for (size_t bit = 0; bit < file_.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    file_[bit / 8] ^= mask;
    const Result<Segment> got = recover_sealed(file_);
    ASSERT_TRUE(got.ok()) << bit;
    const size_t gone = lost(*got);
    ASSERT_LE(gone, most_in_a_block_) << bit;
    ASSERT_EQ(stated(*got) - stated_before, gone) << bit;
    ASSERT_EQ(got->names, segment_.names) << bit;
    ASSERT_EQ(got->lanes, segment_.lanes) << bit;
    ASSERT_EQ(got->counters.counts, segment_.counters.counts) << bit;
    ASSERT_EQ(got->header, segment_.header) << bit;
    file_[bit / 8] ^= mask;
  }
}

}  // namespace
}  // namespace goodput::journal
