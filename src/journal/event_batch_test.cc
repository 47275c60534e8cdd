// SPDX-License-Identifier: Apache-2.0
#include "journal/event_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace goodput::journal {
namespace {

TEST(EventBatch, SortsTheRunsOfAFewThreadsAndOfMany) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const size_t lanes = 1 + random() % 14;
    std::vector<int64_t> lane_ns(lanes);
    EventBatch batch;
    const size_t count = random() % 2'000;
    while (batch.events().size() < count) {
      int64_t& now_ns = lane_ns[random() % lanes];
      for (size_t left = 1 + random() % 128; left > 0; --left) {
        event::Event& made = batch.mutable_events().emplace_back();
        made.time_ns = now_ns += static_cast<int64_t>(random() % 3);
        made.position = {static_cast<uint64_t>(made.time_ns), batch.events().size()};
        if (random() % 100 == 0) made.time_ns -= 50;  // with a time of its own
      }
    }
    const auto events = batch.events();
    std::vector<event::Event> expected(events.begin(), events.end());
    std::sort(expected.begin(), expected.end(), stands_before);
    batch.sort();
    ASSERT_EQ(batch.events().size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(batch.events()[i].position, expected[i].position) << round << " " << i;
    }
  }
}

}  // namespace
}  // namespace goodput::journal
