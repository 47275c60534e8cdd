// SPDX-License-Identifier: Apache-2.0
#include "record/staging.h"

#include <fcntl.h>
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/temporary_folder.h"
#include "record/read_journals.h"

namespace goodput::record {
namespace {

using std::chrono::milliseconds;

class StagingTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("GOODPUT_QUIET", "1", 1);
    setenv("GOODPUT_STAGING_DIR", staging_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("GOODPUT_STAGING_DIR"); }

  Recorder open() {
    return Recorder::open({.job = "j", .directory = home_.path() + "/r", .sync_interval_seconds = 0.05});
  }
  [[nodiscard]] std::vector<WrittenJournal> at_home() const { return read_journals(home_.path() + "/r"); }
  [[nodiscard]] std::vector<WrittenJournal> staged() const { return read_journals(staging_.path()); }
  [[nodiscard]] size_t steps_at_home() const {
    const std::vector<WrittenJournal> journals = at_home();
    return journals.empty() ? 0 : journals[0].steps().size();
  }

  /// Something was not merely missing.
  static bool is_damaged(const std::vector<WrittenJournal>& journals) {
    for (const WrittenJournal& journal : journals) {
      for (const journal::Loss& loss : journal.losses) {
        if (loss.reason != journal::LossReason::kMissingNumber) return true;
      }
    }
    return false;
  }

  const TemporaryFolder home_;
  const TemporaryFolder staging_{"/dev/shm"};
};

TEST_F(StagingTest, EventsAreStagedAtOnceAndCopiedSoon) {
  auto recorder = open();
  for (int64_t step = 0; step < 100; ++step) recorder.step(step);
  recorder.begin(Event::kCustom, {.name = "eval"});
  const WrittenJournal here = staged().at(0);
  EXPECT_EQ(here.steps().size(), 100U);
  EXPECT_EQ(here.header.header_flags, journal::kStagedFlag);
  for (int i = 0; i < 200 && steps_at_home() < 100; ++i) std::this_thread::sleep_for(milliseconds(10));
  const WrittenJournal copy = at_home().at(0);
  EXPECT_EQ(copy.steps().size(), 100U);
  EXPECT_EQ(copy.first(event::Kind::kCustomStart)->name, "eval");
  EXPECT_EQ(copy.header.header_flags, journal::kStagedFlag);
  EXPECT_TRUE(copy.losses.empty());
}

TEST_F(StagingTest, SignOfLifeIsCopiedThoughNothingIsRecorded) {
  auto recorder = open();
  std::this_thread::sleep_for(milliseconds(200));
  ASSERT_EQ(at_home().size(), 1U);
  const int64_t pairs = at_home().at(0).clock.pairs;
  std::this_thread::sleep_for(milliseconds(1'300));
  EXPECT_GT(at_home().at(0).clock.pairs, pairs);
}

TEST_F(StagingTest, ClosingBringsEverythingHome) {
  constexpr int64_t kSteps = 50'000;
  {
    auto recorder = open();
    for (int64_t step = 0; step < kSteps; ++step) recorder.step(step);
    EXPECT_EQ(recorder.counts().lost_events, 0U);
  }
  EXPECT_EQ(steps_at_home(), static_cast<size_t>(kSteps));
  EXPECT_TRUE(staged().empty());
  EXPECT_TRUE(at_home().at(0).losses.empty());
}

TEST_F(StagingTest, WhatIsCopiedWhileThreadsWriteIsIntact) {
  std::atomic<bool> stop{false};
  std::atomic<int64_t> recorded{0};
  auto recorder = open();
  std::jthread writer([&] {
    for (int64_t step = 0; !stop; recorded = ++step) {
      recorder.step(step, {.tokens = 1});
      if (step % 50 == 0) recorder.begin(Event::kCustom, {.name = std::to_string(step)});
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  for (int i = 0; i < 40; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    // A reader that comes in the middle of a copy looks again before it calls anything damaged; what was recorded last
    // may still be on its way.
    int looks = 0;
    while (is_damaged(at_home()) && looks < 10) ++looks;
    EXPECT_LT(looks, 10);
  }
  stop = true;
  writer.join();
  const auto all = static_cast<size_t>(recorded.load());
  for (int i = 0; i < 500 && steps_at_home() < all; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(steps_at_home(), all);
  EXPECT_TRUE(at_home().at(0).losses.empty());
}

TEST_F(StagingTest, NextRecorderBringsTheDeadHome) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto recorder = Recorder::open({.job = "j", .directory = home_.path() + "/r", .sync_interval_seconds = 3'600});
    for (int64_t step = 0; step < 1'000; ++step) recorder.step(step);
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(steps_at_home(), 0U);
  EXPECT_EQ(staged().at(0).steps().size(), 1'000U);
  auto recorder = open();
  for (int i = 0; i < 200 && steps_at_home() < 1'000; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(steps_at_home(), 1'000U);
  for (int i = 0; i < 200 && staged().size() > 1; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(staged().size(), 1U) << "that of the living";
}

TEST_F(StagingTest, TheLivingAreNotBroughtHomeByOthers) {
  auto recorder = open();
  recorder.step(1);
  EXPECT_EQ(bring_home_staged(journal::system_environment()), 0);
  const pid_t other = fork();
  if (other == 0) _exit(bring_home_staged(journal::system_environment()));
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(staged().at(0).steps().size(), 1U);
}

TEST_F(StagingTest, UnreachableDestinationLosesNothingUntilTheCap) {
  auto recorder = open();
  recorder.step(0);
  // Its place becomes a file: nothing can be copied any more.
  std::filesystem::remove_all(home_.path() + "/r");
  const int fd = creat((home_.path() + "/r").c_str(), 0600);
  ASSERT_GE(fd, 0);
  ::close(fd);
  for (int64_t step = 1; step < 10'000; ++step) recorder.step(step);
  EXPECT_EQ(recorder.counts().lost_events, 0U);
  EXPECT_EQ(staged().at(0).steps().size(), 10'000U);
  int64_t recorded = 10'000;
  while (recorder.counts().lost_no_space == 0 && recorded < 3'000'000) recorder.step(recorded++);
  EXPECT_GT(recorded, 900'000) << "32 MiB hold a million events";
  EXPECT_GT(recorder.counts().lost_no_space, 0U);
  std::filesystem::remove(home_.path() + "/r");
  const uint64_t lost = recorder.counts().lost_events;
  for (int i = 0; i < 1'500 && !recorder.is_recording(); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(recorder.is_recording());
  recorder.close();
  EXPECT_EQ(steps_at_home() + lost, static_cast<uint64_t>(recorded));
}

}  // namespace
}  // namespace goodput::record
