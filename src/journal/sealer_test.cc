// SPDX-License-Identifier: Apache-2.0
#include "journal/sealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include "base/fault_file_system.h"
#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"
#include "journal/random_segment.h"
#include "journal/seal.h"

namespace goodput::journal {
namespace {

using event::Kind;
using testing::UnorderedElementsAre;

constexpr int64_t kSecond = 1'000'000'000;

/// A journal of one live segment in memory, synced; and sealing that stops at the n-th call.
class InterruptedSealing : public testing::Test {
 protected:
  InterruptedSealing() {
    std::mt19937_64 random(1);
    live_ = std::make_unique<SegmentFixture>(random_live_segment(random, kMinSegmentBytes));
  }
  void put_live() {
    memory_ = std::make_unique<MemoryFileSystem>();
    CHECK(memory_->make_directories("journal").ok());
    CHECK(memory_->open_directory("").value()->sync().ok());
    const auto folder = std::move(memory_->open_directory("journal")).value();
    const auto file = std::move(folder->open_file("00000001.live", Access::kCreate)).value();
    CHECK(file->write_at(0, live_->bytes()).ok() && file->sync().ok() && folder->sync().ok());
  }
  /// False when it came to its end before the n-th call.
  bool seal_until_call(uint64_t n) {
    FaultyFileSystem killed(*memory_);
    const auto folder = std::move(killed.open_directory("journal")).value();
    killed.fail_call(n, EIO, /*for_ever=*/true);
    (void)seal_file(*folder, 1);
    return killed.calls() >= n;
  }
  /// What a reader finds: the live form, else the sealed one.
  size_t events_found() {
    const auto folder = std::move(memory_->open_directory("journal")).value();
    for (const SegmentForm form : {SegmentForm::kLive, SegmentForm::kSealed}) {
      const auto bytes = read_whole_file(*folder, segment_name(1, form), 1 << 20);
      if (!bytes.ok()) continue;
      const Result<Segment> segment = recover_segment(*bytes, SegmentHint{live_->live_header().journal_id, 1});
      if (segment.ok()) return segment->events.size();
    }
    return 0;
  }
  void expect_sealed() {
    const auto folder = std::move(memory_->open_directory("journal")).value();
    const Status sealed = seal_file(*folder, 1);
    EXPECT_TRUE(sealed.ok() || sealed.code() == StatusCode::kNotFound) << sealed.message();
    EXPECT_THAT(folder->list().value(), UnorderedElementsAre("00000001.sealed"));
    EXPECT_EQ(events_found(), live_->stored().size());
  }

  std::unique_ptr<SegmentFixture> live_;
  std::unique_ptr<MemoryFileSystem> memory_;
};

TEST_F(InterruptedSealing, KilledAnywhereLosesNothingAndIsDoneByTheNext) {
  uint64_t calls = 0;
  for (uint64_t n = 1;; ++n) {
    put_live();
    const bool interrupted = seal_until_call(n);
    ASSERT_EQ(events_found(), live_->stored().size()) << n;
    expect_sealed();
    calls = n;
    if (!interrupted) break;
  }
  EXPECT_GE(calls, 10u);
}

TEST_F(InterruptedSealing, APowerCutAnywhereLosesNothing) {
  for (uint64_t n = 1; n <= 14; ++n) {
    for (uint64_t seed = 0; seed < 100; ++seed) {
      put_live();
      seal_until_call(n);
      memory_->lose_power(seed);
      ASSERT_EQ(events_found(), live_->stored().size()) << n << " " << seed;
      expect_sealed();
    }
  }
}

class Sealing : public testing::Test {
 protected:
  Machine machine(int64_t seconds_after_open) {
    Machine now = this_machine(clock_);
    now.now.boot_ns = 5 * kSecond + seconds_after_open * kSecond;
    return now;
  }
  Status seal_dead(const JournalFixture& journal, const Machine& machine) {
    const auto folder = std::move(posix_file_system().open_directory(journal.path())).value();
    return seal_dead_journal(*folder, machine);
  }
  static std::vector<std::string> files(const JournalFixture& journal) {
    const auto folder = std::move(posix_file_system().open_directory(journal.path())).value();
    return folder->list().value();
  }

  TemporaryFolder folder_;
  ManualClock clock_;
};

TEST_F(Sealing, OnlyOfTheDead) {
  JournalFixture journal(folder_.path(), {.boot_id = read_boot_id()});
  journal.append({.kind = Kind::kStepStart, .boot_ns = 6 * kSecond, .value = 1});
  journal.alive_at(7 * kSecond);
  journal.write();
  EXPECT_EQ(seal_dead(journal, machine(4)).code(), StatusCode::kUnavailable) << "alive 2 s ago";
  Machine own = machine(60);
  own.pid = 4242;
  EXPECT_EQ(seal_dead(journal, own).code(), StatusCode::kUnavailable) << "this very process";
  Machine other_user = machine(60);
  ++other_user.user;
  EXPECT_EQ(seal_dead(journal, other_user).code(), StatusCode::kUnavailable);
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.live"));
  EXPECT_TRUE(seal_dead(journal, machine(60)).ok());
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.sealed", "lock"));
}

TEST_F(Sealing, OfAnotherBootAtOnce) {
  JournalFixture journal(folder_.path(), {.boot_id = "before the machine was restarted"});
  journal.append({.kind = Kind::kStepStart, .boot_ns = 6 * kSecond, .value = 1});
  journal.rotate();
  journal.write();  // prepared, never used
  EXPECT_TRUE(seal_dead(journal, machine(0)).ok());
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.sealed", "lock"));
}

TEST_F(Sealing, WaitsForTheLock) {
  JournalFixture journal(folder_.path(), {});
  journal.append({.kind = Kind::kStepStart, .boot_ns = 6 * kSecond, .value = 1});
  journal.write();
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready) + pipe(done), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    auto folder = std::move(posix_file_system().open_directory(journal.path())).value();
    auto lock = std::move(folder->open_file("lock", Access::kCreate)).value();
    const bool held = lock->lock().ok();
    char byte = held ? 'y' : 'n';
    (void)!write(ready[1], &byte, 1);
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(seal_dead(journal, machine(60)).code(), StatusCode::kUnavailable);
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.live", "lock"));
  (void)!write(done[1], &byte, 1);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(seal_dead(journal, machine(60)).ok());
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.sealed", "lock"));
}

TEST_F(Sealing, AWriterThatWasTakenForDeadLosesNothing) {
  JournalFixture journal(folder_.path(), {});
  journal.append({.kind = Kind::kStepStart, .boot_ns = 6 * kSecond, .value = 1});
  journal.write();
  ASSERT_TRUE(journal.seal(1).ok());
  journal.append({.kind = Kind::kStepStart, .boot_ns = 7 * kSecond, .value = 2});
  journal.write();  // from its mapping
  ASSERT_TRUE(journal.seal(1).ok());
  const auto folder = std::move(posix_file_system().open_directory(journal.path())).value();
  const auto bytes = read_whole_file(*folder, "00000001.sealed", 1 << 20);
  EXPECT_EQ(recover_sealed(*bytes)->events.size(), 2u);
}

TEST_F(Sealing, ANewerVersionIsLeftAlone) {
  JournalFixture journal(folder_.path(), {});
  for (const size_t page : {size_t{0}, size_t{journal.live().layout().mirror_page_offset}}) {
    set_header_version(std::span(journal.live().bytes()).subspan(page), 2);
  }
  journal.write();
  EXPECT_EQ(journal.seal(1).code(), StatusCode::kUnsupported);
  EXPECT_EQ(seal_dead(journal, machine(60)).code(), StatusCode::kUnsupported);
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.live"));
}

TEST_F(Sealing, AFullDiskLeavesTheLiveFileAndNoScratch) {
  JournalFixture journal(folder_.path(), {});
  journal.append({.kind = Kind::kStepStart, .boot_ns = 6 * kSecond, .value = 1});
  journal.write();
  FaultyFileSystem full(posix_file_system());
  for (uint64_t n = 1; n < 40; ++n) {
    const auto folder = std::move(full.open_directory(journal.path())).value();
    full.fail_call(n, ENOSPC);
    const Status sealed = seal_file(*folder, 1);
    if (sealed.ok()) break;
    const std::vector<std::string> left = files(journal);
    EXPECT_THAT(left, testing::Contains("00000001.live")) << n;
    EXPECT_THAT(left, testing::Not(testing::Contains("00000001.sealing"))) << n;
  }
  EXPECT_THAT(files(journal), UnorderedElementsAre("00000001.sealed"));
}

}  // namespace
}  // namespace goodput::journal
