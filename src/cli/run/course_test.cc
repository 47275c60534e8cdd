// SPDX-License-Identifier: Apache-2.0
#include "cli/run/course.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace goodput::cli {
namespace {

using Phase = Course::Phase;
using Next = Verdict::Next;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kGrace = 30 * kSecond;
constexpr Exit kCrash{.signal = SIGSEGV};
constexpr Exit kFailure{.code = 1};
constexpr Exit kSuccess{.code = 0};

/// A launch whose clock is turned by hand.
class CourseTest : public ::testing::Test {
 protected:
  void launch() {
    ASSERT_EQ(course_.phase(), Phase::kLaunch);
    course_.launched();
  }
  Verdict end(const Exit& exit, bool made_progress = false) { return course_.ended(exit, made_progress, now_ns_); }
  bool send(int signal) { return course_.take_signal(signal, now_ns_); }
  void pass(int64_t duration_ns) {
    now_ns_ += duration_ns;
    course_.advance(now_ns_);
  }
  /// Ends the running command, clears, and waits until the next start: how long that took, or nothing when none comes.
  std::optional<int64_t> back_off_after(const Exit& exit, bool made_progress = false) {
    end(exit, made_progress);
    course_.cleared();
    if (course_.phase() != Phase::kBackOff) return std::nullopt;
    const int64_t wait_ns = course_.deadline_ns().value_or(0) - now_ns_;
    pass(wait_ns - 1);
    EXPECT_EQ(course_.phase(), Phase::kBackOff);
    pass(1);
    launch();
    return wait_ns;
  }

  void limit(const RestartPolicy::Limits& limits) { course_ = Course(RestartPolicy(limits), kGrace); }

  int64_t now_ns_ = 1000 * kSecond;
  Course course_{RestartPolicy({}), kGrace};
};

TEST_F(CourseTest, BackOffDoublesToAMinute) {
  limit({.max_restarts = 9});
  launch();
  std::vector<int64_t> seconds;
  for (auto wait_ns = back_off_after(kCrash); wait_ns; wait_ns = back_off_after(kCrash)) {
    seconds.push_back(wait_ns.value_or(0) / kSecond);
  }
  EXPECT_EQ(seconds, (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 60, 60, 60}));
  EXPECT_EQ(course_.phase(), Phase::kDone);
  EXPECT_EQ(course_.exit_code(), 128 + SIGSEGV);
}

TEST_F(CourseTest, ProgressStartsTheCountAgain) {
  launch();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(back_off_after(kFailure, /*made_progress=*/true), 1 * kSecond);
    EXPECT_EQ(back_off_after(kFailure, /*made_progress=*/false), 2 * kSecond);
  }
  EXPECT_EQ(back_off_after(kFailure), 4 * kSecond);
  EXPECT_EQ(back_off_after(kFailure), std::nullopt);
  EXPECT_EQ(course_.exit_code(), 1);
}

TEST_F(CourseTest, BackOffCountsFromTheEndOfTheCommand) {
  launch();
  end(kCrash);
  pass(kSecond / 2);  // what it left took so long to end
  course_.cleared();
  EXPECT_EQ(course_.deadline_ns(), now_ns_ + kSecond / 2);
}

TEST_F(CourseTest, SomeEndsAreNeverFollowedByAStart) {
  struct Case {
    Exit exit;
    RestartPolicy::Limits limits;
    Next next;
    int code;
  };
  for (const Case& c :
       {Case{kSuccess, {}, Next::kDone, 0}, Case{{.code = 126}, {}, Next::kGiveUp, 126},
        Case{{.code = 127}, {}, Next::kGiveUp, 127}, Case{kFailure, {.max_restarts = 0}, Next::kGiveUp, 1},
        Case{kFailure, {.enabled = false}, Next::kDone, 1}, Case{kCrash, {.enabled = false}, Next::kDone, 139}}) {
    limit(c.limits);
    launch();
    EXPECT_EQ(end(c.exit, /*made_progress=*/true).next, c.next) << c.code;
    if (course_.phase() == Phase::kClearing) course_.cleared();
    EXPECT_EQ(course_.phase(), Phase::kDone) << c.code;
    EXPECT_EQ(course_.exit_code(), c.code);
  }
}

TEST_F(CourseTest, GivesUpOnceTheRestartsAreUsed) {
  launch();
  for (int restart = 1; restart <= 3; ++restart) {
    const Verdict verdict = end(kCrash);
    EXPECT_EQ(verdict.next, Next::kRestart);
    EXPECT_EQ(verdict.restart, restart);
    course_.cleared();
    pass(verdict.delay_ns);
    launch();
  }
  EXPECT_EQ(end(kCrash).next, Next::kGiveUp);
}

TEST_F(CourseTest, TermIsPassedOnAndKillsAfterGrace) {
  launch();
  EXPECT_TRUE(send(SIGTERM));
  EXPECT_EQ(course_.deadline_ns(), now_ns_ + kGrace);
  pass(kGrace - 1);
  EXPECT_FALSE(course_.is_killing());
  pass(1);
  EXPECT_TRUE(course_.is_killing());
  EXPECT_EQ(end({.signal = SIGKILL}).next, Next::kDone);
  EXPECT_TRUE(course_.is_killing()) << "what it left gets no second grace";
  course_.cleared();
  EXPECT_EQ(course_.phase(), Phase::kDone);
  EXPECT_EQ(course_.exit_code(), 137);
}

TEST_F(CourseTest, SecondTermDoesNotLengthenGrace) {
  launch();
  send(SIGTERM);
  const auto deadline = course_.deadline_ns();
  pass(kSecond);
  EXPECT_TRUE(send(SIGTERM));
  EXPECT_EQ(course_.deadline_ns(), deadline);
}

TEST_F(CourseTest, StopSignalsEndTheRestartsButOnlyTermKills) {
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP}) {
    limit({});
    launch();
    EXPECT_TRUE(send(signal));
    EXPECT_EQ(course_.deadline_ns(), std::nullopt);
    EXPECT_EQ(end({.signal = signal}).next, Next::kDone);
    course_.cleared();
    EXPECT_EQ(course_.phase(), Phase::kDone);
    EXPECT_EQ(course_.exit_code(), 128 + signal);
  }
}

TEST_F(CourseTest, OtherSignalsArePassedOnAndChangeNothing) {
  launch();
  EXPECT_TRUE(send(SIGUSR1));
  EXPECT_TRUE(send(SIGWINCH));
  EXPECT_FALSE(course_.is_stopping());
  EXPECT_EQ(end(kCrash).next, Next::kRestart);
}

TEST_F(CourseTest, StopWhileNothingRunsEndsAtOnce) {
  launch();
  end(kFailure);
  course_.cleared();
  ASSERT_EQ(course_.phase(), Phase::kBackOff);
  EXPECT_FALSE(send(SIGUSR1));
  EXPECT_EQ(course_.phase(), Phase::kBackOff);
  EXPECT_FALSE(send(SIGTERM));
  EXPECT_EQ(course_.phase(), Phase::kDone);
  EXPECT_EQ(course_.exit_code(), 1);
}

TEST_F(CourseTest, StopWhileClearingEndsTheRestarts) {
  launch();
  EXPECT_EQ(end(kFailure).next, Next::kRestart);
  EXPECT_FALSE(send(SIGINT));
  EXPECT_EQ(course_.phase(), Phase::kClearing);
  course_.cleared();
  EXPECT_EQ(course_.phase(), Phase::kDone);
}

TEST_F(CourseTest, WhatIsLeftHasGraceThenIsKilledThenIsLeftAlone) {
  launch();
  end(kCrash);
  EXPECT_EQ(course_.deadline_ns(), now_ns_ + kGrace);
  pass(kGrace);
  EXPECT_TRUE(course_.is_killing());
  EXPECT_EQ(course_.phase(), Phase::kClearing);
  pass(Course::kKillPatienceNs);
  EXPECT_EQ(course_.phase(), Phase::kBackOff)
      << "the restart is overdue by then, but the hung process is not waited for";
  EXPECT_FALSE(course_.is_killing());
  pass(0);
  EXPECT_EQ(course_.phase(), Phase::kLaunch);
}

TEST_F(CourseTest, SuccessLeavesWhatItStartedAlone) {
  launch();
  end(kSuccess);
  EXPECT_EQ(course_.phase(), Phase::kDone);
}

TEST_F(CourseTest, SuccessAfterAStopStillClears) {
  launch();
  send(SIGTERM);
  end(kSuccess);
  EXPECT_EQ(course_.phase(), Phase::kClearing);
  course_.cleared();
  EXPECT_EQ(course_.exit_code(), 0);
}

TEST_F(CourseTest, NextAttemptStartsWithoutADeadline) {
  launch();
  back_off_after(kCrash);
  EXPECT_EQ(course_.phase(), Phase::kRunning);
  EXPECT_EQ(course_.deadline_ns(), std::nullopt);
}

}  // namespace
}  // namespace goodput::cli
