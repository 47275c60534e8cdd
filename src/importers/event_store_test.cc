// SPDX-License-Identifier: Apache-2.0
#include "importers/event_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "importers/event_sort.h"

namespace goodput::importers {
namespace {

using event::Event;
using event::Kind;

/// A store of events with times given by the test, in memory or in a file.
class EventStoreTest : public ::testing::Test {
 protected:
  void add(EventStore& store, int64_t time_ns, uint64_t ordinal) {
    StoredEvent stored;
    stored.event.kind = Kind::kStepStart;
    stored.event.time_ns = time_ns;
    stored.event.step = static_cast<int64_t>(ordinal);
    stored.event.fingerprint = ordinal * 0x9E3779B97F4A7C15;
    stored.ordinal = ordinal;
    ASSERT_TRUE(store.append(stored).ok());
  }

  std::vector<Event> all(const EventStore& store) {
    std::vector<Event> events;
    for (size_t i = 0; i < store.blocks(); ++i) {
      EXPECT_TRUE(store.load(i, block_).ok());
      events.insert(events.end(), block_.events.begin(), block_.events.end());
    }
    return events;
  }

  Spool spool_{.memory_left = 64 << 20, .directory = "/tmp"};
  OriginTable origins_;
  Block block_;
};

TEST_F(EventStoreTest, EveryFieldComesBack) {
  event::Origin origin{
      .attempt_id = "a", .run_id = "r", .role = "launcher", .host = "h", .boot_id = {}, .process_index = 7, .pid = 0};
  event::Detail texts{.location = "gs://b", .cause = "oom", .text = "rank 3"};
  event::Detail slices{.active_slices = 3, .total_slices = -4, .available_slices = 1LL << 53};
  event::Detail work{.tokens = 1e6, .samples = std::nan(""), .flops = 0.5};
  std::vector<StoredEvent> written(6);
  written[0].event = {.time_ns = event::kMaxTimeNs,
                      .position = {7, UINT64_MAX},
                      .fingerprint = UINT64_MAX,
                      .step = -event::kMaxStep,
                      .duration_ns = 5,
                      .name = "näme",
                      .kind = Kind::kCustomStart};
  written[0].has_sequence = true;
  written[1].event = {.time_ns = 0, .detail = &texts, .exit_value = -9, .kind = Kind::kDisruption, .flags = 255};
  written[1].ordinal = UINT64_MAX;
  written[2].event = {.time_ns = 5, .detail = &slices, .kind = Kind::kSliceCounts};
  written[3].event = {.time_ns = 6, .step = 3, .detail = &work, .kind = Kind::kStepStart};
  written[3].origin_id = *origins_.intern(&origin);
  written[4].event = {.time_ns = 7, .kind = Kind::kHeartbeat};
  written[4].has_key = true;
  written[4].key = {123, "insert-id", 99};
  written[5].event = {.time_ns = 8, .kind = Kind::kStepEnd};
  EventStore store(spool_, origins_);
  for (const StoredEvent& stored : written) ASSERT_TRUE(store.append(stored).ok());
  ASSERT_TRUE(store.finish().ok());
  ASSERT_TRUE(store.load(0, block_).ok());
  ASSERT_EQ(block_.stored.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    const StoredEvent& got = block_.stored[i];
    const StoredEvent& want = written[i];
    EXPECT_EQ(got.event.time_ns, want.event.time_ns) << i;
    EXPECT_EQ(got.event.fingerprint, want.event.fingerprint) << i;
    EXPECT_EQ(got.event.step, want.event.step) << i;
    EXPECT_EQ(got.event.duration_ns, want.event.duration_ns) << i;
    EXPECT_EQ(got.event.name, want.event.name) << i;
    EXPECT_EQ(got.event.exit_value, want.event.exit_value) << i;
    EXPECT_EQ(got.event.kind, want.event.kind) << i;
    EXPECT_EQ(got.event.flags, want.event.flags) << i;
    EXPECT_EQ(got.event.position, want.has_sequence ? want.event.position : (event::Position{0, want.ordinal})) << i;
    EXPECT_EQ(got.key.timestamp_ns, want.key.timestamp_ns) << i;
    EXPECT_EQ(got.key.insert_id, want.key.insert_id) << i;
    EXPECT_EQ(got.key.log_hash, want.key.log_hash) << i;
    EXPECT_EQ(got.event.detail == nullptr, want.event.detail == nullptr) << i;
  }
  EXPECT_EQ(block_.events[1].detail->location, "gs://b");
  EXPECT_EQ(block_.events[1].detail->cause, "oom");
  EXPECT_EQ(block_.events[1].detail->text, "rank 3");
  EXPECT_EQ(block_.events[2].detail->total_slices, -4);
  EXPECT_EQ(block_.events[2].detail->available_slices, 1LL << 53);
  EXPECT_EQ(block_.events[3].detail->tokens, 1e6);
  EXPECT_TRUE(std::isnan(block_.events[3].detail->samples));
  EXPECT_EQ(block_.events[3].origin->attempt_id, "a");
  EXPECT_EQ(block_.events[3].origin->process_index, 7);
  EXPECT_EQ(block_.events[4].origin, nullptr);
}

TEST_F(EventStoreTest, BeyondItsMemoryEventsGoToAFile) {
  spool_.memory_left = 40'000;  // four blocks or so
  {
    EventStore store(spool_, origins_);
    for (uint64_t i = 0; i < 20'000; ++i) add(store, static_cast<int64_t>(i) * 350'000'000, i);
    ASSERT_TRUE(store.finish().ok());
    EXPECT_TRUE(store.spooled());
    EXPECT_EQ(store.blocks(), 40U);
    const std::vector<Event> events = all(store);
    ASSERT_EQ(events.size(), 20'000U);
    for (uint64_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].position.minor, i);
      ASSERT_EQ(events[i].time_ns, static_cast<int64_t>(i) * 350'000'000);
    }
  }
  EXPECT_EQ(spool_.memory_left, 40'000U);
}

TEST_F(EventStoreTest, MemoryIsGivenBack) {
  {
    EventStore store(spool_, origins_);
    for (uint64_t i = 0; i < 2'000; ++i) add(store, 5, i);
    ASSERT_TRUE(store.finish().ok());
    EXPECT_FALSE(store.spooled());
    EXPECT_LT(spool_.memory_left, 64UL << 20);
  }
  EXPECT_EQ(spool_.memory_left, 64UL << 20);
}

TEST_F(EventStoreTest, AMissingFolderIsAFailureThatNamesIt) {
  spool_ = {.memory_left = 0, .directory = "/nonexistent/folder"};
  EventStore store(spool_, origins_);
  add(store, 1, 1);
  const Status status = store.finish();
  EXPECT_EQ(status.code(), StatusCode::kUnreadable);
  EXPECT_EQ(status.message(), "making a temporary file in /nonexistent/folder: No such file or directory");
}

TEST_F(EventStoreTest, StepsTakeFewBytes) {
  EventStore store(spool_, origins_);
  std::mt19937_64 random(1);
  std::normal_distribution<double> jitter(0.35e9, 0.0035e9);
  int64_t t = 1'700'000'000'000'000'000;
  for (uint64_t i = 0; i < 51'200; ++i) add(store, t += static_cast<int64_t>(jitter(random) / 1000) * 1000, i);
  ASSERT_TRUE(store.finish().ok());
  const size_t taken = (64UL << 20) - spool_.memory_left;
  EXPECT_LT(static_cast<double>(taken) / 51'200, 19.0);
}

TEST_F(EventStoreTest, SortingIsStableAndTheSameInMemoryAndOutside) {
  for (const size_t memory : {size_t{64} << 20, size_t{100'000}}) {
    spool_.memory_left = memory;
    EventStore store(spool_, origins_);
    std::mt19937_64 random(7);
    std::vector<std::pair<int64_t, uint64_t>> want;
    for (uint64_t i = 0; i < 100'000; ++i) {  // four runs
      const auto time_ns = static_cast<int64_t>(random() % 5'000);
      add(store, time_ns, i);
      want.emplace_back(time_ns, i);
    }
    ASSERT_TRUE(store.finish().ok());
    std::ranges::sort(want);
    std::vector<std::pair<int64_t, uint64_t>> got;
    const Status status = sort_events(store, Order::kTime, spool_, origins_, [&](StoredEvent& stored) -> Status {
      got.emplace_back(stored.event.time_ns, stored.ordinal);
      return {};
    });
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(got, want);
  }
}

TEST_F(EventStoreTest, ManyRunsAreMergedInSeveralPasses) {
  EventStore store(spool_, origins_);
  constexpr uint64_t kEvents = 51'200;  // 100 blocks: 50 runs, 13, 4, 1
  for (uint64_t i = 0; i < kEvents; ++i) add(store, static_cast<int64_t>(kEvents - i), i);
  ASSERT_TRUE(store.finish().ok());
  int64_t before = 0;
  uint64_t count = 0;
  const Status status = sort_events(store, Order::kTime, spool_, origins_,
                                    [&](StoredEvent& stored) -> Status {
                                      EXPECT_EQ(stored.event.time_ns, before + 1);
                                      before = stored.event.time_ns;
                                      ++count;
                                      return {};
                                    },
                                    {.blocks_per_run = 2, .fan_in = 4});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(count, kEvents);
}

}  // namespace
}  // namespace goodput::importers
