// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

/// Steps of 350 ms with 1 % of Gaussian jitter, as many as the segment holds.
Segment reference_stream(uint32_t segment_bytes, bool with_loads) {
  SegmentFixture live(SegmentFixture::header(1, segment_bytes));
  std::mt19937_64 random(1);
  std::normal_distribution<double> step_ns(350e6, 3.5e6), load_ns(20e6, 1e6);
  int64_t boot_ns = 5'000'000'000;
  for (int64_t step = 0;; ++step) {
    if (with_loads) {
      const auto load = static_cast<int64_t>(load_ns(random));
      live.append({.kind = Kind::kDataLoadingStart, .boot_ns = boot_ns + 1'000 + static_cast<int64_t>(random() % 300)});
      live.append({.kind = Kind::kDataLoadingEnd, .boot_ns = boot_ns + load});
    }
    boot_ns += static_cast<int64_t>(step_ns(random));
    if (!live.append({.kind = Kind::kStepStart, .boot_ns = boot_ns, .value = step})) break;
  }
  return recover_live(live.bytes()).value();
}

TEST(Sealed, BytesPerEvent) {
  const Segment steps = reference_stream(kMaxSegmentBytes, false);
  const Segment loads = reference_stream(kMaxSegmentBytes, true);
  const double steps_bytes = static_cast<double>(seal_segment(steps).size()) / static_cast<double>(steps.events.size());
  const double loads_bytes = static_cast<double>(seal_segment(loads).size()) / static_cast<double>(loads.events.size());
  RecordProperty("bytes_per_step", std::to_string(steps_bytes));
  RecordProperty("bytes_per_event_with_loads", std::to_string(loads_bytes));
  std::printf("%.3f %.3f\n", steps_bytes, loads_bytes);
  EXPECT_LE(steps_bytes, 3.5);
  EXPECT_LE(loads_bytes, 3.5);
}

void expect_same(const Segment& a, const Segment& b) {
  ASSERT_EQ(a.events.size(), b.events.size());
  for (size_t i = 0; i < a.events.size(); ++i) {
    ASSERT_TRUE(same_event(a.events[i].event, b.events[i].event)) << i;
    ASSERT_EQ(a.events[i].slot, b.events[i].slot) << i;
  }
  EXPECT_EQ(a.header, b.header);
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.lanes, b.lanes);
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.counters.counts, b.counters.counts);
}

TEST(Sealed, RoundTrip) {
  const Segment steps = reference_stream(kMaxSegmentBytes, true);
  const Result<Segment> back = recover_sealed(seal_segment(steps));
  ASSERT_TRUE(back.ok());
  expect_same(steps, *back);
}

}  // namespace
}  // namespace goodput::journal
