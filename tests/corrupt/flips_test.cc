// Every single bit of a segment flipped, and every length that a cut may leave of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "journal/random_segment.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/sealed_blocks.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

/// A segment with every kind of content: two lanes, attached slots, names, a clock pair and a counter; a third of its
/// runs used, so that there are spares too.
SegmentFixture small_segment() {
  SegmentFixture live(SegmentFixture::header());
  live.define(1, "eval");
  live.define(2, "gs://ckpt/7b");
  live.define(3, "preempted");
  live.define(4, "node-3 is going away");
  live.alive_at({.boot_ns = 6'000'000'000, .wall_ns = 1'767'225'601'000'000'000}, 1);
  live.alive_at({.boot_ns = 7'000'000'000, .wall_ns = 1'767'225'602'000'000'000}, 2);
  live.put_counter(Counter::kNoSpace, 3);
  int64_t boot_ns = 5'000'001'000;
  const auto next_ns = [&] { return boot_ns += 1'000'003; };
  live.append({.kind = Kind::kJobStart, .boot_ns = next_ns()});
  for (int64_t step = 0; step < 90; ++step) {
    live.append(
        {.kind = Kind::kStepStart, .boot_ns = next_ns(), .value = step, .tokens = step % 3 == 0 ? 4096.0 : NAN});
    live.append({.kind = Kind::kDataLoadingStart, .boot_ns = next_ns(), .lane = 1});
    live.append({.kind = Kind::kDataLoadingEnd, .boot_ns = next_ns(), .lane = 1});
    if (step % 10 == 9) live.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = next_ns()});
    if (step % 30 == 29) {
      live.append({.kind = Kind::kCheckpointSave,
                   .flags = event::kHasStep,
                   .name = 2,
                   .boot_ns = next_ns(),
                   .value = step,
                   .has_wall_time = true,
                   .wall_ns = 1'767'225'600'000'000'000 + boot_ns,
                   .duration_ns = 250'000'000,
                   .samples = 8});
    }
  }
  live.append({.kind = Kind::kDisruption, .name = 3, .boot_ns = next_ns(), .value = 4});
  return live;
}

class Recovery : public testing::Test {
 protected:
  /// What comes back of `bytes`, with the losses.
  Segment recover(std::span<const std::byte> bytes) {
    Result<Segment> segment = recover_live(bytes, hint_);
    EXPECT_TRUE(segment.ok()) << segment.status().message();
    return std::move(segment).value();
  }
  static uint64_t lost_events(const Segment& segment) {
    uint64_t lost = 0;
    const Segment* one = &segment;
    for (const Loss& loss : joint_losses({&one, 1})) lost += loss.events;
    return lost;
  }
  /// Every event of `got` stands in `expected` at the same slot; returns how many of `expected` are absent.
  static size_t absent(const std::vector<StoredEvent>& expected, const std::vector<StoredEvent>& got) {
    size_t at = 0, missing = 0;
    for (const StoredEvent& want : expected) {
      if (at < got.size() && got[at].slot == want.slot) {
        EXPECT_TRUE(same_event(got[at].event, want.event)) << "slot " << want.slot;
        ++at;
      } else {
        ++missing;
      }
    }
    EXPECT_EQ(at, got.size()) << "an event that nobody wrote";
    return missing;
  }

  SegmentHint hint_{SegmentFixture::header().journal_id, 1};
};

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

class SealedDamage : public testing::Test {
 protected:
  SealedDamage() {
    std::mt19937_64 random(4);
    segment_ = random_segment(random, 2 * kMinSegmentBytes);
    file_ = seal_segment(segment_);
    BlockScanner scanner(file_, segment_.header.seed());
    while (const auto block = scanner.next()) {
      if (block->head.kind != BlockKind::kEvents) continue;
      ++blocks_;
      most_in_a_block_ = std::max<size_t>(most_in_a_block_, block->head.items);
    }
  }
  /// How many events are gone; each that is there is as it was.
  size_t lost(const Segment& got) const {
    size_t at = 0;
    for (const StoredEvent& event : segment_.events) {
      if (at == got.events.size() || got.events[at].slot != event.slot) continue;
      EXPECT_TRUE(same_event(got.events[at].event, event.event));
      ++at;
    }
    EXPECT_EQ(at, got.events.size());
    return segment_.events.size() - at;
  }
  static uint64_t stated(const Segment& got) {
    uint64_t events = 0;
    for (const Loss& loss : got.losses) events += loss.events;
    return events;
  }

  Segment segment_;
  std::vector<std::byte> file_;
  size_t blocks_ = 0;
  size_t most_in_a_block_ = 0;
};

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
