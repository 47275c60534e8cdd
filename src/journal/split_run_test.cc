// SPDX-License-Identifier: Apache-2.0
#include "journal/split_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include "base/fault_file_system.h"
#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;
constexpr int64_t kWall = 1'767'225'600 * kSecond;
constexpr int64_t kAt = kWall + 100 * kSecond;

class Split : public testing::Test {
 protected:
  /// Two attempts in one journal of rank 0, the second at kAt; one after them; a rank and a launcher of each launch.
  void record() {
    JournalFixture both(folder_.path(), {.attempt_id = "a", .id = 1});
    both.append({.kind = Kind::kJobStart, .boot_ns = kBoot});
    steps(both, 5, 1);
    both.rotate();
    steps(both, 5, 50);
    both.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 100 * kSecond});
    steps(both, 5, 101);
    both.write();
    JournalFixture rank(folder_.path(), {.attempt_id = "a", .process_index = 1, .id = 2});
    rank.append({.kind = Kind::kCheckpointSave, .boot_ns = kBoot + 2 * kSecond, .duration_ns = 5});
    rank.append({.kind = Kind::kCheckpointSave, .boot_ns = kBoot + 102 * kSecond, .duration_ns = 5});
    rank.write();
    JournalFixture launcher(folder_.path(), {.attempt_id = "a", .role = "launcher", .id = 3});
    launcher.append({.kind = Kind::kProcessExit, .boot_ns = kBoot + 99 * kSecond});
    launcher.append({.kind = Kind::kProcessExit, .boot_ns = kBoot + 110 * kSecond});
    launcher.write();
    JournalFixture after(
        folder_.path(),
        {.attempt_id = "b", .open_boot_ns = kBoot + 200 * kSecond, .open_wall_ns = kWall + 200 * kSecond, .id = 4});
    after.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 200 * kSecond});
    steps(after, 5, 201);
    after.write();
    EXPECT_TRUE(both.seal(1).ok());
  }
  static void steps(JournalFixture& journal, int count, int64_t from_seconds) {
    for (int step = 0; step < count; ++step) {
      journal.append({.kind = Kind::kStepStart, .boot_ns = kBoot + (from_seconds + step) * kSecond, .value = step});
    }
  }
  /// Every event of a run but heartbeats, as "seconds kind attempt".
  std::map<std::string, int> events(const std::string& run_id) {
    std::map<std::string, int> seen;
    auto log = JobLog::open(posix_file_system(), roots_, "llama-7b", run_id, clock_);
    if (!log.ok()) return seen;
    EXPECT_TRUE((*log)
                    ->poll([&](std::span<const event::Event> events) {
                      for (const event::Event& event : events) {
                        if (event.kind == Kind::kHeartbeat) continue;
                        ++seen[std::to_string((event.time_ns - kWall) / kSecond) + " " +
                               std::to_string(static_cast<int>(event.kind)) + " " +
                               std::to_string(event.process_index()) + " " + std::string(event.origin->attempt_id)];
                      }
                      return true;
                    })
                    .ok());
    EXPECT_EQ((*log)->findings().size(), 0U) << run_id;
    return seen;
  }
  Result<SplitOutcome> split(FileSystem& files) {
    RETURN_IF_ERROR(forget_indexes(posix_file_system(), roots_, "llama-7b", ""));
    ASSIGN_OR_RETURN(const auto log, JobLog::open(posix_file_system(), roots_, "llama-7b", "", clock_));
    RETURN_IF_ERROR(log->poll([](std::span<const event::Event>) { return true; }));
    SplitRequest request{.job = "llama-7b", .second_run_id = "second", .at_ns = kAt};
    for (const Attempt& attempt : log->attempts()) {
      if (attempt.start_ns >= kAt) request.attempts.insert(attempt.id);
    }
    return split_run(files, roots_, *log, request);
  }
  void start_again() {
    std::filesystem::remove_all(folder_.path() + "/v1");
    record();
  }

  TemporaryFolder folder_{"/dev/shm"};
  std::vector<Root> roots_ = {{.path = folder_.path()}};
  ManualClock clock_{{.boot_ns = kBoot, .wall_ns = kWall + 10'000 * kSecond}};
};

TEST_F(Split, EachEventGoesToOneOfTheTwoRuns) {
  record();
  const std::map<std::string, int> whole = events("");
  const Result<SplitOutcome> done = split(posix_file_system());
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->moved, 1U);
  EXPECT_EQ(done->cut, 3U);
  const std::map<std::string, int> first = events(""), second = events("second");
  EXPECT_EQ(first.size(), 13U);   // a start, ten steps, a save, an exit
  EXPECT_EQ(second.size(), 14U);  // two starts, ten steps, a save, an exit
  EXPECT_EQ(first.size() + second.size(), whole.size());
  EXPECT_TRUE(first.contains("2 23 1 a"));
  EXPECT_TRUE(second.contains("102 23 1 a")) << "the rank's, now of the second run's first attempt";
  EXPECT_TRUE(second.contains("110 27 0 a"));
  EXPECT_TRUE(second.contains("201 3 0 b"));
}

TEST_F(Split, KilledAnywhereNothingIsLostAndTheSameSplitGoesOn) {
  record();
  const std::map<std::string, int> whole = events("");
  ASSERT_TRUE(split(posix_file_system()).ok());
  const std::map<std::string, int> first = events(""), second = events("second");
  int kills = 0;
  for (uint64_t call = 1;; ++call) {
    start_again();
    FaultyFileSystem killed(posix_file_system());
    killed.fail_call(call, EIO, true);
    const bool is_done = split(killed).ok();
    if (is_done && killed.calls() < call) break;
    ++kills;
    // Each event of before is in the first run, in the second, or in both.
    size_t found = 0;
    const std::map<std::string, int> in_first = events(""), in_second = events("second");
    for (const auto& [event, count] : first) found += in_first.contains(event) ? 1 : 0;
    for (const auto& [event, count] : second) found += in_second.contains(event) ? 1 : 0;
    if (found < whole.size()) {
      for (const auto& [event, count] : whole) EXPECT_TRUE(in_first.contains(event)) << event << " at call " << call;
    }
    const Result<SplitOutcome> again = split(posix_file_system());
    ASSERT_TRUE(again.ok()) << "call " << call << ": " << again.status().message();
    ASSERT_EQ(events(""), first) << "call " << call;
    ASSERT_EQ(events("second"), second) << "call " << call;
  }
  EXPECT_GT(kills, 50);
}

}  // namespace
}  // namespace goodput::journal
