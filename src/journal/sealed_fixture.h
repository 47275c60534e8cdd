// What tests of damaged sealed segments share: one of several blocks, and what is lost of it.
//
//   file_[bit / 8] ^= mask;                                           // in a TEST_F(SealedDamage, …)
//   EXPECT_LE(lost(recover_sealed(file_).value()), most_in_a_block_);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "journal/random_segment.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/sealed_blocks.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {

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

}  // namespace goodput::journal
