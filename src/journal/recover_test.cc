// SPDX-License-Identifier: Apache-2.0
#include "journal/recover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "journal/recovery_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

TEST_F(Recovery, AWholeSegmentComesBackWhole) {
  SegmentFixture live = small_segment();
  const Segment segment = recover(live.bytes());
  EXPECT_EQ(absent(live.stored(), segment.events), 0u);
  EXPECT_EQ(segment.header, live.live_header());
  EXPECT_EQ(segment.names[1], "eval");
  EXPECT_EQ(segment.counters[Counter::kNoSpace], 3u);
  EXPECT_EQ(segment.clock.latest.boot_ns, 7'000'000'000);
  EXPECT_EQ(lost_events(segment), 0u);
  EXPECT_TRUE(segment.losses.empty());
}

TEST_F(Recovery, AZeroedTailStatesAnUpperBound) {
  SegmentFixture live = small_segment();
  const std::vector<StoredEvent> stored = live.stored();
  for (size_t kept = 0; kept < live.bytes().size(); kept += 509) {
    std::vector<std::byte> bytes = live.bytes();
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(kept), bytes.end(), std::byte{0});
    const Segment segment = recover(bytes);
    const size_t gone = absent(stored, segment.events);
    ASSERT_GE(lost_events(segment), gone) << kept;
    if (kept <= live.layout().mirror_page_offset) {
      ASSERT_FALSE(segment.losses.empty()) << kept;
    }
  }
}

TEST_F(Recovery, DamageCostsANameNeverItsEvents) {
  SegmentFixture live = small_segment();
  for (const uint32_t area : {live.layout().definitions_offset, live.layout().mirror_definitions_offset}) {
    live.bytes()[area + kDefinitionHeadBytes] ^= std::byte{1};  // "eval", both copies
  }
  const Segment segment = recover(live.bytes());
  EXPECT_EQ(absent(live.stored(), segment.events), 0u);
  ASSERT_EQ(segment.losses.size(), 1u);
  EXPECT_EQ(segment.losses[0], (Loss{.reason = LossReason::kDamagedName, .names = 1}));
  EXPECT_EQ(segment.names[1], "(LOST 1)");
  EXPECT_EQ(segment.names[2], "gs://ckpt/7b");
}

TEST_F(Recovery, AZeroedPageInTheMiddleIsMissedByItsNumbers) {
  SegmentFixture live = small_segment();
  // The first run of lane 0: 128 slots, some of them attached to the next.
  std::fill_n(live.bytes().begin() + live.layout().runs_offset, kRunBytes, std::byte{0});
  const Segment segment = recover(live.bytes());
  const size_t gone = absent(live.stored(), segment.events);
  EXPECT_GT(gone, 90u);
  EXPECT_EQ(lost_events(segment), 128u);
  const Segment* one = &segment;
  EXPECT_TRUE(joint_losses({&one, 1})[0].at_most);
}

TEST_F(Recovery, WithoutHeadersTheSlotsSayWhoseTheyAre) {
  SegmentFixture live = small_segment();
  std::vector<std::byte> bytes = live.bytes();
  std::fill_n(bytes.begin(), kHeaderBytes, std::byte{0xee});
  std::fill_n(bytes.begin() + live.layout().mirror_page_offset, kHeaderBytes, std::byte{0xee});
  for (const bool with_hint : {true, false}) {
    const Result<Segment> segment = recover_live(bytes, with_hint ? std::optional(hint_) : std::nullopt);
    ASSERT_TRUE(segment.ok());
    EXPECT_EQ(absent(live.stored(), segment->events), 0u);
    EXPECT_EQ(segment->losses.front().reason, LossReason::kDamagedHeader);
  }
  EXPECT_EQ(recover_live(std::vector<std::byte>(65536, std::byte{0x5a})).status().code(), StatusCode::kUnreadable);
  EXPECT_EQ(recover_live({}).status().code(), StatusCode::kUnreadable);
}

TEST_F(Recovery, ANewerVersionIsRefusedByName) {
  SegmentFixture live = small_segment();
  for (const size_t page : {size_t{0}, size_t{live.layout().mirror_page_offset}}) {
    set_header_version(std::span(live.bytes()).subspan(page), 9);
  }
  const Status refused = recover_live(live.bytes(), hint_).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_NE(refused.message().find("version 9"), std::string::npos);
  EXPECT_NE(refused.message().find("version 1"), std::string::npos);
}

TEST_F(Recovery, KindsOfANewerProgramAreSkippedAndCounted) {
  SegmentFixture live(SegmentFixture::header());
  live.append({.kind = Kind::kJobStart, .boot_ns = 1});
  live.append({.kind = static_cast<Kind>(40), .boot_ns = 2});
  live.append({.kind = Kind::kStepStart, .boot_ns = 3});
  const Segment segment = recover(live.bytes());
  EXPECT_EQ(segment.events.size(), 2u);
  ASSERT_EQ(segment.losses.size(), 1u);
  EXPECT_EQ(segment.losses[0], (Loss{.reason = LossReason::kUnknownKind, .events = 1, .bytes = 32}));
}

TEST_F(Recovery, LanesGoOnFromSegmentToSegment) {
  SegmentFixture first(SegmentFixture::header(1));
  for (int64_t step = 0; first.append({.kind = Kind::kStepStart, .boot_ns = step, .value = step}); ++step) {
  }
  SegmentFixture second(SegmentFixture::header(2));
  second.continue_from(first);
  second.append({.kind = Kind::kStepStart, .boot_ns = 5'000, .value = 5'000});
  SegmentFixture third(SegmentFixture::header(3));
  third.continue_from(second);
  third.append({.kind = Kind::kStepStart, .boot_ns = 5'001, .value = 5'001});

  const Segment a = recover(first.bytes()), b = recover(second.bytes()), c = recover(third.bytes());
  const std::array<const Segment*, 3> all = {&a, &b, &c};
  EXPECT_TRUE(joint_losses(all).empty());
  const std::array<const Segment*, 2> without_second = {&a, &c};
  ASSERT_EQ(joint_losses(without_second).size(), 1u);
  EXPECT_EQ(joint_losses(without_second)[0].events, 1u);
  EXPECT_EQ(joint_losses(without_second)[0].reason, LossReason::kMissingNumber);
}

}  // namespace
}  // namespace goodput::journal
