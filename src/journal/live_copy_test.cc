// SPDX-License-Identifier: Apache-2.0
#include "journal/live_copy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/job_log.h"
#include "journal/journal_fixture.h"
#include "journal/recover.h"

namespace goodput::journal {
namespace {

using event::Kind;

constexpr int64_t kSecond = 1'000'000'000;

SegmentFixture segment_with(int events) {
  SegmentFixture live(SegmentFixture::header(2, kMaxSegmentBytes));
  live.define(1, "eval");
  for (int i = 0; i < events; ++i) {
    EXPECT_TRUE(live.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = 6 * kSecond + i}));
  }
  return live;
}

TEST(LiveCopy, HoldsEverythingButTheUnusedRuns) {
  SegmentFixture live = segment_with(300);
  live.alive_at({7 * kSecond, 8 * kSecond}, 3);
  const LiveCopy copy = copy_live(live.bytes()).value();
  EXPECT_EQ(copy.bytes.size(), (1 + 2 + 3 + 2 + 1) * size_t{kPageBytes});  // pages, definitions and three runs
  EXPECT_EQ(copy.events, 300U);
  EXPECT_EQ(copy.pairs, 3U);
  const Segment original = recover_live(live.bytes(), std::nullopt).value();
  const Segment read = recover_live(copy.bytes, std::nullopt).value();
  ASSERT_EQ(read.events.size(), original.events.size());
  for (size_t i = 0; i < read.events.size(); ++i) EXPECT_EQ(read.events[i].slot, original.events[i].slot);
  EXPECT_EQ(read.names[1], "eval");
  EXPECT_EQ(read.lanes, original.lanes);
  EXPECT_TRUE(read.losses.empty());
  EXPECT_EQ(read.header.header_flags, kStagedFlag);
  EXPECT_EQ(read.header.job, original.header.job);
}

TEST(LiveCopy, OfACopyIsTheSame) {
  const LiveCopy copy = copy_live(segment_with(300).bytes()).value();
  EXPECT_EQ(copy_live(copy.bytes).value().bytes, copy.bytes);
}

TEST(LiveCopy, AFullSegmentIsAsLongAsItWas) {
  const SegmentFixture live = segment_with(static_cast<int>(live_layout(kMaxSegmentBytes).runs * kRunSlots));
  EXPECT_EQ(copy_live(live.bytes()).value().bytes.size(), size_t{kMaxSegmentBytes});
}

TEST(LiveCopy, OneThatWasOnlyPreparedSaysNothing) {
  EXPECT_FALSE(copy_live(SegmentFixture(SegmentFixture::header(2)).bytes())->says_something);
  EXPECT_TRUE(copy_live(SegmentFixture(SegmentFixture::header(1)).bytes())->says_something);
  SegmentFixture alive(SegmentFixture::header(2));
  alive.alive_at({7 * kSecond, 8 * kSecond}, 1);
  EXPECT_TRUE(copy_live(alive.bytes())->says_something);
}

TEST(LiveCopy, WhatIsNoSegmentIsUnreadable) {
  const std::vector<std::byte> zeros(kMinSegmentBytes);
  EXPECT_EQ(copy_live(zeros).status().code(), StatusCode::kUnreadable);
  const SegmentFixture live = segment_with(3);
  EXPECT_EQ(copy_live(std::span(live.bytes()).first(kMinSegmentBytes)).status().code(), StatusCode::kUnreadable);
}

/// A journal as it lies on another machine: sealed segments, and copies of live ones.
class CopiedJournal : public testing::Test {
 protected:
  void put_copy() {
    const LiveCopy copy = copy_live(journal_.live().bytes()).value();
    const std::string path = journal_.path() + "/" + segment_name(journal_.number(), SegmentForm::kLive);
    std::ofstream file(path + ".new", std::ios::binary);
    file.write(reinterpret_cast<const char*>(copy.bytes.data()), static_cast<std::streamsize>(copy.bytes.size()));
    file.close();
    std::filesystem::rename(path + ".new", path);
  }
  void be_at(int64_t boot_ns) { clock_.step_wall(journal_.wall_ns(boot_ns) - clock_.wall_ns()); }
  size_t poll(JobLog& log) {
    size_t steps = 0;
    EXPECT_TRUE(log.poll([&](std::span<const event::Event> events) {
                     for (const event::Event& event : events) steps += event.kind == Kind::kStepStart ? 1 : 0;
                     return true;
                   })
                    .ok());
    return steps;
  }

  TemporaryFolder folder_;
  JournalFixture journal_{folder_.path(), {}};
  ManualClock clock_;
};

TEST_F(CopiedJournal, IsDeadAfterMinutesAndComesBack) {
  journal_.append({.kind = Kind::kJobStart, .boot_ns = 5 * kSecond});
  journal_.append({.kind = Kind::kStepStart, .boot_ns = 6 * kSecond, .value = 0});
  journal_.rotate();
  ASSERT_TRUE(journal_.seal(1).ok());  // what is sealed does not say that it is a copy
  journal_.append({.kind = Kind::kStepStart, .boot_ns = 7 * kSecond, .value = 1});
  journal_.alive_at(8 * kSecond);
  put_copy();

  be_at(60 * kSecond);
  const auto log = JobLog::open(posix_file_system(), {{.path = folder_.path()}}, "llama-7b", "", clock_).value();
  EXPECT_EQ(poll(*log), 2U);
  EXPECT_FALSE(log->members().front()->file->facts().is_dead);
  be_at(189 * kSecond);
  EXPECT_EQ(poll(*log), 0U);
  EXPECT_TRUE(log->members().front()->file->facts().is_dead);

  journal_.append({.kind = Kind::kStepStart, .boot_ns = 9 * kSecond, .value = 2});
  journal_.alive_at(200 * kSecond);
  put_copy();
  EXPECT_EQ(poll(*log), 1U);
  EXPECT_FALSE(log->members().front()->file->facts().is_dead);
}

}  // namespace
}  // namespace goodput::journal
