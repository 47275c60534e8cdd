// SPDX-License-Identifier: Apache-2.0
#include "record/writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <set>
#include <thread>

#include "base/temporary_folder.h"
#include "journal/clock_slots.h"
#include "journal/live_header.h"
#include "record/journal_folder.h"
#include "record/system_calls.h"

namespace goodput::record {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(LaneTableTest, LanesAreHandedOnAndEndAt65535) {
  LaneTable* table = LaneTable::make(1);
  ASSERT_NE(table, nullptr);
  Lane* first = table->claim();
  table->give_back(*first);
  EXPECT_EQ(table->claim(), first);
  std::set<Lane*> lanes = {first};
  while (Lane* lane = table->claim()) lanes.insert(lane);
  EXPECT_EQ(lanes.size(), LaneTable::kMaxLanes);
  EXPECT_EQ(table->count(), LaneTable::kMaxLanes);
  table->give_back(*first);
  EXPECT_EQ(table->claim(), first);
  table->let_go();
}

TEST(LaneTableTest, ThreadsNeverHoldOneLaneTogether) {
  LaneTable* table = LaneTable::make(1);
  ASSERT_NE(table, nullptr);
  std::vector<std::jthread> threads;
  threads.reserve(4);
  std::atomic<int> collisions{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        Lane* lane = table->claim();
        if (lane->busy.fetch_add(1) != 0) ++collisions;
        lane->busy.fetch_sub(1);
        table->give_back(*lane);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(collisions, 0);
  EXPECT_LE(table->count(), 8U);
  table->let_go();
}

TEST(NameTableTest, IdsAreStableAndEndAt65534) {
  NameTable* names = NameTable::make();
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(names->id_of(""), journal::kNoName);
  const uint16_t eval = names->id_of("eval");
  EXPECT_EQ(names->text_of(eval), "eval");
  for (uint32_t i = 1; i < NameTable::kMaxNames; ++i) ASSERT_NE(names->id_of(std::to_string(i)), journal::kMoreNames);
  EXPECT_EQ(names->id_of("one more"), journal::kMoreNames);
  EXPECT_EQ(names->id_of("eval"), eval) << "what is known stays known";
  EXPECT_EQ(names->text_of(names->id_of("65000")), "65000");
  EXPECT_EQ(names->text_of(journal::kMoreNames), "");
}

TEST(NameTableTest, ThreadsAgreeOnIds) {
  NameTable* names = NameTable::make();
  ASSERT_NE(names, nullptr);
  std::array<std::vector<uint16_t>, 4> ids;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (auto& of_one : ids) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2'000; ++i) of_one.push_back(names->id_of("name " + std::to_string(i)));
      });
    }
  }
  for (const auto& of_one : ids) EXPECT_EQ(of_one, ids[0]);
  EXPECT_EQ(std::set<uint16_t>(ids[0].begin(), ids[0].end()).size(), 2'000U);
}

/// A writer with one segment, without threads.
class WriterTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(folder_.open(), 0);
    NameTable* names = NameTable::make();
    ASSERT_NE(names, nullptr);
    ASSERT_TRUE(writer_.open(*names));
    HeaderTemplate header{.bytes = {}, .journal_id = kId};
    journal::encode_header({.journal_id = kId, .job = "j"}, header.bytes);
    writer_.chain().set_header(header);
    writer_.chain().set_folder(folder_.fd());
    ASSERT_EQ(writer_.chain().add_segment(), 0);
  }
  void TearDown() override {
    std::vector<LiveSegment*> segments;
    for (LiveSegment* s = writer_.chain().oldest(); s != nullptr; s = writer_.chain().after(*s)) segments.push_back(s);
    for (LiveSegment* segment : segments) release_segment(*segment);
  }
  [[nodiscard]] journal::ClockSlots clock() {
    const LiveSegment& segment = *writer_.chain().current();
    return journal::read_clock_slots({segment.base, journal::kPageBytes}, segment.seed);
  }

  static constexpr std::array<uint8_t, 16> kId = {1, 2, 3};
  const TemporaryFolder temporary_{"/dev/shm"};
  JournalFolder folder_{{.roots = {{.path = temporary_.path()}}, .job = "j", .run_id = "", .journal_id = kId}};
  Writer writer_;
};

TEST_F(WriterTest, StepsOfTheWallClockAreNotedAndSlewIsNot) {
  const ClockPair start{.boot_ns = 100 * kSecond, .wall_ns = 1'767'225'600 * kSecond};
  const auto at = [&](int64_t seconds, int64_t ahead_ns) {
    return ClockPair{start.boot_ns + seconds * kSecond, start.wall_ns + seconds * kSecond + ahead_ns};
  };
  writer_.store_liveness(at(0, 0));
  writer_.store_liveness(at(1, 500'000));                    // slewed by the most that the system does
  writer_.store_liveness(at(2, 500'000 - 3'600 * kSecond));  // set back an hour
  writer_.store_liveness(at(3, 1'000'000 - 3'600 * kSecond));
  writer_.store_liveness(at(4, 0));  // and forth again
  const journal::ClockSlots seen = clock();
  EXPECT_EQ(seen.pairs, 5);
  EXPECT_EQ(seen.latest.boot_ns, start.boot_ns + 4 * kSecond);
  ASSERT_EQ(seen.step_count, 2U);
  EXPECT_EQ(seen.steps[0].step_ns, -3'600 * kSecond);
  EXPECT_EQ(seen.steps[0].after.boot_ns, start.boot_ns + 2 * kSecond);
  EXPECT_EQ(seen.steps[1].step_ns, 3'600 * kSecond - 1'000'000);
}

TEST_F(WriterTest, SuspendedMachineIsNoStep) {
  writer_.store_liveness({.boot_ns = kSecond, .wall_ns = 10 * kSecond});
  writer_.store_liveness({.boot_ns = 7'201 * kSecond, .wall_ns = 7'210 * kSecond});
  EXPECT_EQ(clock().step_count, 0U) << "boot time counts the two hours, too";
}

TEST_F(WriterTest, BootTimeIsReadWithoutASystemCallOrReplaced) {
  const int64_t before_ns = boot_time_ns();
  const int64_t now_ns = writer_.now_ns();
  EXPECT_GE(now_ns, before_ns - 1'000'000);
  EXPECT_LE(now_ns, boot_time_ns() + 1'000'000);
  RecordClock replaced;
  replaced.id = CLOCK_MONOTONIC;
  replaced.refresh();
  EXPECT_NEAR(static_cast<double>(replaced.now_ns()), static_cast<double>(boot_time_ns()), 1e8);
}

TEST_F(WriterTest, EventThatDoesNotFitTheRestOfItsRunGoesToTheNext) {
  constexpr uint32_t kSlots = journal::kRunSlots;
  for (uint32_t i = 0; i + 1 < kSlots; ++i) writer_.record_plain(event::Kind::kStepStart, 0, i);
  journal::LiveEvent with_work;
  with_work.kind = event::Kind::kStepStart;
  with_work.tokens = 1;
  writer_.record(with_work);  // two slots, and one is left
  const LiveSegment& segment = *writer_.chain().current();
  const auto slot_at = [&](uint32_t i) {
    journal::Slot slot;
    std::memcpy(&slot, segment.run_start(0) + size_t{i} * journal::kSlotBytes, sizeof(slot));
    return slot;
  };
  EXPECT_EQ(journal::head_kind(slot_at(kSlots - 1).head), journal::kSkippedSlot);
  EXPECT_EQ(journal::head_kind(slot_at(kSlots).head), journal::kWorkSlot);
  EXPECT_EQ(journal::place_number(slot_at(kSlots + 1).place), kSlots + 1) << "no number is missing";
}

TEST_F(WriterTest, PreparersNeverShareANumber) {
  constexpr int kThreads = 4;
  constexpr int kSegments = 100;
  const HeaderTemplate header = writer_.chain().header();
  std::atomic<uint32_t> next_number{2};
  std::array<std::vector<uint32_t>, kThreads> numbers;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (auto& of_one : numbers) {
      threads.emplace_back([&] {
        LiveSegment segment;
        for (int i = 0; i < kSegments; ++i) {
          CHECK(prepare_segment(segment, folder_.fd(), header, next_number, journal::kMinSegmentBytes) == 0);
          of_one.push_back(segment.number);
          release_segment(segment);
        }
      });
    }
  }
  std::set<uint32_t> all;
  for (const auto& of_one : numbers) all.insert(of_one.begin(), of_one.end());
  EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kSegments));
  EXPECT_EQ(*all.begin(), 2U);
  EXPECT_EQ(*all.rbegin(), 1U + kThreads * kSegments) << "and leave none out";
}

/// Memory in place of files, which nobody touches: segments cost nothing.
class CheapSegments {
 public:
  CheapSegments() : kept_(system_calls) {
    system_calls.allocate = [](int, uint32_t) { return 0; };
    system_calls.populate = [](int, std::byte*, uint32_t) { return 0; };
    system_calls.map = [](int, uint32_t bytes, std::byte** base) {
      void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      *base = static_cast<std::byte*>(memory);
      return memory == MAP_FAILED ? ENOMEM : 0;
    };
  }
  ~CheapSegments() { system_calls = kept_; }
  CheapSegments(const CheapSegments&) = delete;
  CheapSegments& operator=(const CheapSegments&) = delete;

 private:
  SystemCalls kept_;
};

TEST_F(WriterTest, WhereNobodySealsSegmentsGrowLargeAndEndAtTheirNumber) {
  const CheapSegments cheap;
  SegmentChain& chain = writer_.chain();
  uint64_t small = 0, large = 0;
  const LiveSegment* last = nullptr;
  for (record::Run run = chain.take_run(); run.segment != nullptr; run = chain.take_run()) {
    if (run.segment == last) continue;
    last = run.segment;
    const uint32_t bytes = last->layout.segment_bytes;
    ASSERT_TRUE(bytes == (large > 0 ? journal::kMaxSegmentBytes : bytes)) << "none is small again";
    (bytes == journal::kMaxSegmentBytes ? large : small) += 1;
  }
  EXPECT_EQ(small, uint64_t{8} * journal::kMaxSegmentBytes / journal::kMinSegmentBytes);
  EXPECT_EQ(small + large, kMaxLiveSegments - 1);
  EXPECT_EQ(chain.failure(), ENOBUFS);
  writer_.record_plain(event::Kind::kStepStart, 0, 1);
  const journal::CounterValues counted = journal::read_counters({last->base, journal::kPageBytes}, {}, last->seed);
  EXPECT_EQ(counted[journal::Counter::kFellBehind], 1U);
  EXPECT_EQ(counted.lost_events(), 1U);
}

TEST_F(WriterTest, SegmentIsQuietOnceNobodyWritesToIt) {
  writer_.record_plain(event::Kind::kStepStart, 0, 1);
  LiveSegment* segment = writer_.chain().current();
  segment->close();
  const Pin pin(writer_);  // somebody is in the middle of something
  EXPECT_FALSE(writer_.quiesce({&segment, 1}, 5'000'000));
}

}  // namespace
}  // namespace goodput::record
