// SPDX-License-Identifier: Apache-2.0
#include "journal/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;
using testing::ElementsAre;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kBoot = 5 * kSecond;
constexpr int64_t kWall = 1'767'225'600 * kSecond;

class Ranks : public testing::Test {
 protected:
  JournalFixture rank(int64_t index, JournalFixture::Options options = {}) {
    options.process_index = index;
    options.id = static_cast<uint8_t>(++journals_);
    return JournalFixture(folder_.path(), options);
  }
  /// A step a second, each `late_ns(step)` later than rank 0's would be.
  template <typename Late>
  static void steps(JournalFixture& journal, int64_t count, Late late_ns, int64_t from_ns = kBoot) {
    for (int64_t step = 0; step < count; ++step) {
      journal.append({.kind = Kind::kStepStart, .boot_ns = from_ns + step * kSecond + late_ns(step), .value = step});
    }
    journal.write();
  }
  JobLog& read() {
    log_ = std::move(JobLog::open(posix_file_system(), {{.path = folder_.path()}}, "llama-7b", "", clock_)).value();
    EXPECT_TRUE(log_->poll([](std::span<const event::Event>) { return true; }).ok());
    return *log_;
  }
  std::vector<RankSigns> latest() {
    JobLog& log = read();
    return ranks_of(log, log.attempts().size() - 1);
  }
  static int64_t none(int64_t) { return 0; }

  TemporaryFolder folder_;
  ManualClock clock_{{.boot_ns = kBoot + 3'600 * kSecond, .wall_ns = kWall + 3'600 * kSecond}};
  std::unique_ptr<JobLog> log_;
  int journals_ = 0;
};

TEST_F(Ranks, LatenessIsTheChangeAgainstTheMedianOffset) {
  JournalFixture zero = rank(0), slow = rank(1, {.host = "node-4"});
  steps(zero, 200, none);
  // Always 2 s later, in one step of ten 50 ms, in two of a hundred 400 ms more.
  steps(slow, 200, [](int64_t step) {
    return 2 * kSecond + (step % 50 == 7 ? 400 * kMillisecond : step % 10 == 3 ? 50 * kMillisecond : 0);
  });
  slow.alive_at(kBoot + 300 * kSecond);
  slow.write();
  const std::vector<RankSigns> ranks = latest();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].process_index, 1);
  EXPECT_EQ(ranks[0].host, "node-4");
  EXPECT_EQ(ranks[0].last_sign_ns, kWall + 300 * kSecond);
  EXPECT_EQ(ranks[0].late_p90_ns, 50 * kMillisecond);
  EXPECT_EQ(ranks[0].late_p99_ns, 400 * kMillisecond);
}

TEST_F(Ranks, BetweenHostsNothingBelowTheirClocksIsStatedAndAConstantOffsetIsNone) {
  JournalFixture zero = rank(0);
  // Its clock is an hour ahead, and its machine started at another time.
  JournalFixture far =
      rank(1, {.boot_id = "of another host", .open_boot_ns = 77, .open_wall_ns = kWall + 3'600 * kSecond});
  steps(zero, 200, none);
  steps(
      far, 200, [](int64_t step) { return step % 50 == 7 ? 400 * kMillisecond : step % 3 * 30 * kMillisecond; }, 77);
  const std::vector<RankSigns> ranks = latest();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].late_p90_ns, std::nullopt);
  EXPECT_EQ(ranks[0].late_p99_ns, 370 * kMillisecond);
}

TEST_F(Ranks, StepsAreComparedInEachFormAndOnlyTheLatestRise) {
  JournalFixture zero = rank(0), other = rank(3);
  steps(zero, 6'000, none);
  // Its first try was slow; then it rolled back and did all of it in time.
  steps(
      other, 500, [](int64_t step) { return step * 100 * kMillisecond; }, kBoot - 1'000 * kSecond);
  steps(other, 6'000, none);
  ASSERT_GT(zero.number(), 3U);
  ASSERT_TRUE(zero.seal(1).ok() && zero.seal(zero.number()).ok() && other.seal(2).ok());
  const std::vector<RankSigns> ranks = latest();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].late_p99_ns, 0);
  Decompressor decompressor;
  for (const auto& member : log_->members()) {
    const std::vector<StepAt> found = latest_steps(*member->run_folder, *member->file, decompressor);
    EXPECT_EQ(found.size(), kLatestSteps);
    EXPECT_EQ(found.front().step, 6'000 - static_cast<int64_t>(kLatestSteps));
    EXPECT_EQ(found.back(), (StepAt{5'999, kBoot + 5'999 * kSecond}));
  }
}

TEST_F(Ranks, TooFewCommonStepsHaveNoLateness) {
  const auto numbered = [](int64_t from, int64_t to) {
    std::vector<StepAt> steps;
    for (int64_t step = from; step < to; ++step) steps.push_back({step, step * kSecond});
    return steps;
  };
  EXPECT_FALSE(lateness_of(numbered(0, 9), numbered(0, 100)).has_value());
  EXPECT_TRUE(lateness_of(numbered(0, 10), numbered(0, 100)).has_value());
  EXPECT_FALSE(lateness_of(numbered(91, 200), numbered(0, 100)).has_value());
  EXPECT_FALSE(lateness_of({}, numbered(0, 100)).has_value());
}

TEST_F(Ranks, WhoStoppedFirstIsToldWhereClocksAllow) {
  const auto sign = [](int64_t index, int64_t ms, const char* boot) {
    return RankSigns{.process_index = index,
                     .host = "",
                     .boot_id = boot,
                     .last_sign_ns = kWall + ms * kMillisecond,
                     .late_p90_ns = {},
                     .late_p99_ns = {}};
  };
  struct Case {
    std::vector<RankSigns> ranks;
    std::optional<int64_t> first;
  };
  const std::vector<Case> cases = {
      {{}, {}},
      {{sign(0, 0, "a")}, {}},
      {{sign(0, 1'101, "a"), sign(1, 0, "a")}, 1},
      {{sign(0, 1'100, "a"), sign(1, 0, "a")}, {}},
      {{sign(0, 1'200, "a"), sign(1, 0, "b")}, {}},
      {{sign(0, 1'201, "a"), sign(1, 0, "b")}, 1},
      {{sign(0, 0, ""), sign(1, 1'150, "")}, {}},
      {{sign(0, 0, "a"), sign(1, 9'000, "b"), sign(2, 1'000, "a")}, {}},
      {{sign(0, 9'000, "a"), sign(1, 9'000, "b"), sign(2, 1'000, "a")}, 2},
  };
  for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(first_stopped(cases[i].ranks), cases[i].first) << i;
}

TEST_F(Ranks, AnAttemptsRanksAreThoseOfItsLaunch) {
  JournalFixture zero = rank(0), old_two = rank(2),
                 late_two = rank(2, {.open_boot_ns = kBoot + 9, .open_wall_ns = kWall + 9});
  steps(zero, 20, none);
  steps(old_two, 20, none);
  steps(late_two, 5, none, kBoot + kSecond);
  const int64_t later = 1'000 * kSecond;
  JournalFixture next = rank(0, {.attempt_id = "77.1", .open_boot_ns = kBoot + later, .open_wall_ns = kWall + later});
  JournalFixture next_one =
      rank(1, {.attempt_id = "77.1", .open_boot_ns = kBoot + later, .open_wall_ns = kWall + later});
  steps(next, 20, none, kBoot + later);
  steps(next_one, 20, none, kBoot + later + kSecond);
  JobLog& log = read();
  const auto indexes = [&](size_t attempt) {
    std::vector<std::pair<int64_t, int64_t>> found;
    for (const RankSigns& signs : signs_of(log, attempt)) {
      found.emplace_back(signs.process_index, (signs.last_sign_ns - kWall) / kSecond);
    }
    return found;
  };
  EXPECT_THAT(indexes(0), ElementsAre(std::pair(0, 19), std::pair(2, 19)));
  EXPECT_THAT(indexes(1), ElementsAre(std::pair(0, 1'019), std::pair(1, 1'020)));
}

}  // namespace
}  // namespace goodput::journal
