// What tests of recovery share: a small segment that holds everything there is, and how what comes back is compared.
//
//   SegmentFixture live = small_segment();
//   const Segment segment = recover(live.bytes());                    // in a TEST_F(Recovery, …)
//   EXPECT_EQ(absent(live.stored(), segment.events), 0u);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "journal/recover.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {

/// A segment with every kind of content: two lanes, attached slots, names, a clock pair and a counter; a third of its
/// runs used, so that there are spares too.
inline SegmentFixture small_segment() {
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
  live.append({.kind = event::Kind::kJobStart, .boot_ns = next_ns()});
  for (int64_t step = 0; step < 90; ++step) {
    live.append(
        {.kind = event::Kind::kStepStart, .boot_ns = next_ns(), .value = step, .tokens = step % 3 == 0 ? 4096.0 : NAN});
    live.append({.kind = event::Kind::kDataLoadingStart, .boot_ns = next_ns(), .lane = 1});
    live.append({.kind = event::Kind::kDataLoadingEnd, .boot_ns = next_ns(), .lane = 1});
    if (step % 10 == 9) live.append({.kind = event::Kind::kCustomStart, .name = 1, .boot_ns = next_ns()});
    if (step % 30 == 29) {
      live.append({.kind = event::Kind::kCheckpointSave,
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
  live.append({.kind = event::Kind::kDisruption, .name = 3, .boot_ns = next_ns(), .value = 4});
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

}  // namespace goodput::journal
