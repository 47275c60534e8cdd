// Every call of the operating system fails once, for ever, or hangs: recording goes on, and what is lost is counted.
// SPDX-License-Identifier: Apache-2.0
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_folder.h"
#include "record/read_journals.h"
#include "record/system_calls.h"

namespace goodput::record {
namespace {

/// The fault that the calls of this test meet.
struct Fault {
  std::atomic<int> countdown{0};   ///< the call after so many fails; 0: none does
  std::atomic<bool> stays{false};  ///< and all after it
  std::atomic<int> error{0};
  std::atomic<int> calls{0};
  std::atomic<int> sync_error{0};
  std::atomic<int> sync_delay_ms{0};

  int next() {
    ++calls;
    const int left = countdown.load();
    if (left == 0) return 0;
    if (left > 1) {
      --countdown;
      return 0;
    }
    if (!stays) countdown = 0;
    return error;
  }
};
Fault fault;
SystemCalls real_calls;

SystemCalls failing_calls() {
  SystemCalls calls;
  calls.open_at = [](int folder, const char* name, int flags) {
    const int error = fault.next();
    return error != 0 ? -error : real_calls.open_at(folder, name, flags);
  };
  calls.make_folder_at = [](int folder, const char* name) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.make_folder_at(folder, name);
  };
  calls.allocate = [](int fd, uint32_t bytes) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.allocate(fd, bytes);
  };
  calls.map = [](int fd, uint32_t bytes, std::byte** base) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.map(fd, bytes, base);
  };
  calls.populate = [](int fd, std::byte* base, uint32_t bytes) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.populate(fd, base, bytes);
  };
  calls.write_at = [](int fd, std::span<const std::byte> bytes, uint64_t offset) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.write_at(fd, bytes, offset);
  };
  calls.sync = [](int fd) {
    std::this_thread::sleep_for(std::chrono::milliseconds(fault.sync_delay_ms));
    if (fault.sync_error != 0) return fault.sync_error.load();
    const int error = fault.next();
    return error != 0 ? error : real_calls.sync(fd);
  };
  calls.facts = [](int fd, struct stat* facts) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.facts(fd, facts);
  };
  calls.rename_at = [](int folder, const char* from, const char* to) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.rename_at(folder, from, to);
  };
  calls.publish_at = [](int folder, const char* from, const char* to) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.publish_at(folder, from, to);
  };
  calls.remove_at = [](int folder, const char* name) {
    const int error = fault.next();
    return error != 0 ? error : real_calls.remove_at(folder, name);
  };
  return calls;
}

template <typename Condition>
bool comes_true_within(std::chrono::milliseconds patience, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("GOODPUT_QUIET", "1", 1);
    real_calls = system_calls;
    system_calls = failing_calls();
  }
  void TearDown() override {
    clear();
    system_calls = real_calls;
  }
  static void clear() {
    fault.countdown = 0;
    fault.stays = false;
    fault.sync_error = 0;
    fault.sync_delay_ms = 0;
  }
  static void fail(int nth, int error, bool stays) {
    fault.error = error;
    fault.stays = stays;
    fault.countdown = nth;
  }
  Recorder open(double sync_interval_seconds = 1) {
    return Recorder::open(
        {.job = "j", .directory = folder_.path() + "/r", .sync_interval_seconds = sync_interval_seconds});
  }
  [[nodiscard]] std::vector<WrittenJournal> read() const { return read_journals(folder_.path() + "/r"); }
  [[nodiscard]] std::string live_file(int number) const {
    return read().at(0).folder + "/0000000" + std::to_string(number) + ".live";
  }

  const TemporaryFolder folder_{"/dev/shm"};
};

/// Records `events` events and closes; how many of them are found again plus how many were counted as lost.
struct Session {
  uint64_t recorded = 0;
  uint64_t found = 0;
  uint64_t lost = 0;
};

TEST_F(FaultsTest, AnyCallMayFailOnceOrForEverAndEveryEventIsAccountedFor) {
  constexpr uint64_t kEvents = 4'000;  // two segments and part of a third
  int calls_of_a_session = 1;
  for (int nth = 1; nth <= calls_of_a_session + 2; ++nth) {
    for (const int error : {ENOSPC, EIO, EROFS, EACCES, EMFILE}) {
      for (const bool stays : {false, true}) {
        std::filesystem::remove_all(folder_.path() + "/r");
        fault.calls = 0;
        fail(nth, error, stays);
        Recorder recorder = open();
        for (uint64_t i = 0; i < kEvents; ++i) {
          if (i % 100 == 0) {
            recorder.begin(Event::kCustom, {.name = std::to_string(i)});
          } else {
            recorder.step(static_cast<int64_t>(i));
          }
        }
        const RecorderCounts counts = recorder.counts();
        const int calls = fault.calls;
        recorder.close();
        clear();
        uint64_t found = 0;
        uint64_t lost = 0;
        for (const WrittenJournal& journal : read()) {
          found += journal.events.size();
          lost += journal.counters.lost_events();
          EXPECT_TRUE(journal.losses.empty());
        }
        EXPECT_EQ(found + counts.lost_events, kEvents) << "call " << nth << ", error " << error << ", stays " << stays;
        if (found > 0) {
          EXPECT_EQ(lost, counts.lost_events) << "the file tells the same";
        }
        if (!stays) calls_of_a_session = std::max(calls_of_a_session, calls);
      }
    }
  }
  EXPECT_GT(calls_of_a_session, 20);
}

TEST_F(FaultsTest, RecordingBeginsWhenTheFolderCanBeMade) {
  fail(1, EROFS, true);
  auto recorder = open();
  EXPECT_FALSE(recorder.is_recording());
  for (int64_t step = 0; step < 100; ++step) recorder.step(step);
  EXPECT_EQ(recorder.counts().lost_no_access, 100U);
  clear();
  ASSERT_TRUE(comes_true_within(std::chrono::seconds(2), [&] { return recorder.is_recording(); }));
  recorder.step(100);
  const WrittenJournal journal = read().at(0);
  EXPECT_EQ(journal.steps(), std::vector<int64_t>{100});
  EXPECT_EQ(journal.counters[journal::Counter::kNoAccess], 100U) << "what was lost before there was a file";
}

TEST_F(FaultsTest, DeletedFolderIsMadeAgainWithAllThatWasRecorded) {
  auto recorder = open();
  for (int64_t step = 0; step < 100; ++step) recorder.step(step);
  std::filesystem::remove_all(folder_.path() + "/r");
  for (int64_t step = 100; step < 200; ++step) recorder.step(step);
  ASSERT_TRUE(comes_true_within(std::chrono::seconds(2), [&] { return !read().empty(); }));
  for (int64_t step = 200; step < 5000; ++step) recorder.step(step);
  recorder.close();
  const WrittenJournal journal = read().at(0);
  EXPECT_EQ(journal.steps().size() + journal.counters.lost_events(), 5000U);
  EXPECT_EQ(journal.steps().front(), 0);
  EXPECT_EQ(journal.steps().back(), 4999);
}

TEST_F(FaultsTest, SegmentSealedByAnotherIsWrittenAnew) {
  auto recorder = open();
  recorder.step(1);
  std::filesystem::remove(live_file(1));
  recorder.step(2);
  recorder.close();
  EXPECT_EQ(read().at(0).steps(), (std::vector<int64_t>{1, 2}));
}

TEST_F(FaultsTest, TruncatedLiveFileIsLeftAloneAndRecordingGoesOn) {
  auto recorder = open();
  for (int64_t step = 0; step < 300; ++step) recorder.step(step);  // three runs
  const std::string first = live_file(1);
  ASSERT_EQ(truncate(first.c_str(), 8192 + 4096), 0);
  // Nothing is recorded before the next look at it.
  ASSERT_TRUE(comes_true_within(std::chrono::seconds(2), [&] { return std::filesystem::exists(live_file(3)); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (int64_t step = 300; step < 400; ++step) recorder.step(step);
  recorder.close();
  const WrittenJournal journal = read().at(0);
  std::vector<int64_t> steps = journal.steps();
  ASSERT_EQ(steps.size(), 128U + 100U) << "one run was left of the first file";
  EXPECT_EQ(steps[127], 127);
  EXPECT_EQ(steps[128], 300);
  uint64_t stated = 0;
  for (const journal::Loss& loss : journal.losses) stated += loss.events;
  EXPECT_GE(stated, 172U) << "the numbers of the lane say what is missing";
}

TEST_F(FaultsTest, FailedSyncGoesOnInAnotherSegment) {
  auto recorder = open(0.05);
  recorder.step(1);
  fault.sync_error = EIO;
  ASSERT_TRUE(comes_true_within(std::chrono::seconds(2),
                                [&] { return read().at(0).counters[journal::Counter::kSyncFailed] > 0; }));
  fault.sync_error = 0;
  recorder.step(2);
  const WrittenJournal journal = read().at(0);
  EXPECT_EQ(journal.steps(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(journal.events[1].event.number, 1U);
  recorder.close();
  EXPECT_EQ(read().at(0).steps(), (std::vector<int64_t>{1, 2}));
}

TEST_F(FaultsTest, HangingSyncDelaysNobody) {
  auto recorder = open(0.05);
  recorder.step(0);
  fault.sync_delay_ms = 3'000;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // by now the keeper hangs
  const int64_t pairs = read().at(0).clock.pairs;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t step = 1; step < 20'000; ++step) recorder.step(step);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1'000));
  EXPECT_EQ(recorder.counts().lost_events, 0U);
  EXPECT_GT(recorder.counts().prepared_by_caller, 0U);
  std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
  EXPECT_GT(read().at(0).clock.pairs, pairs) << "and it is known to be alive";
  const auto closing = std::chrono::steady_clock::now();
  recorder.close();
  EXPECT_LT(std::chrono::steady_clock::now() - closing, std::chrono::milliseconds(2'500));
  EXPECT_EQ(read().at(0).steps().size(), 20'000U);
  fault.sync_delay_ms = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(3'500));  // the keeper comes back and finds all as it left it
}

TEST_F(FaultsTest, FolderOfSomebodyElseIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  std::filesystem::create_directories(folder_.path() + "/r/v1");
  ASSERT_EQ(chown((folder_.path() + "/r/v1").c_str(), 12345, 12345), 0);
  auto recorder = open();
  EXPECT_FALSE(recorder.is_recording());
  recorder.step(1);
  EXPECT_EQ(recorder.counts().lost_no_access, 1U);
}

TEST_F(FaultsTest, LinkInTheFolderIsNotFollowed) {
  const TemporaryFolder elsewhere;
  std::filesystem::create_directories(folder_.path() + "/r");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_.path() + "/r/v1");
  auto recorder = open();
  recorder.step(1);
  EXPECT_FALSE(recorder.is_recording());
  EXPECT_EQ(recorder.counts().lost_no_access, 1U);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

}  // namespace
}  // namespace goodput::record
