// SPDX-License-Identifier: Apache-2.0
#include "monitor/followed_job.h"

#include <gtest/gtest.h>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"

namespace goodput::monitor {
namespace {

using event::Kind;
using journal::JournalFixture;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;  // when journals are opened
constexpr int64_t kWall = 1'767'225'600 * kSecond;

class Followed : public testing::Test {
 protected:
  static std::string name(const Result<RunName>& run) {
    return run.ok() ? run->job + "|" + run->run_id : run.status().message();
  }
  Result<RunName> find(std::string_view text) { return find_run(posix_file_system(), roots_, text); }
  std::unique_ptr<FollowedJob> follow(const RunName& run) {
    return std::move(FollowedJob::open(posix_file_system(), roots_, run, {}, clock_)).value();
  }
  /// A step a second, the first one now.
  void steps(JournalFixture& journal, int64_t from, int64_t to, int64_t boot_ns) const {
    for (int64_t step = from; step < to; ++step, boot_ns += kSecond) {
      journal.append({.kind = Kind::kStepStart, .boot_ns = boot_ns, .value = step});
    }
    journal.alive_at(boot_ns);
    journal.write();
  }
  report::Report report(FollowedJob& job) {
    EXPECT_TRUE(job.poll().ok());
    return job.report({.now_ns = clock_.wall_ns()}).value();
  }

  TemporaryFolder folder_;
  std::vector<journal::Root> roots_ = {{.path = folder_.path()}, {.path = "/no/such/folder"}};
  ManualClock clock_{{.boot_ns = kBoot, .wall_ns = kWall}};
};

TEST_F(Followed, AJobIsItsLatestRunOrTheOneAfterTheLastAt) {
  JournalFixture first(folder_.path(), {.job = "a@b", .run_id = "1", .id = 1});
  JournalFixture second(folder_.path(), {.job = "a@b", .run_id = "2", .open_wall_ns = kWall + 60 * kSecond, .id = 2});
  first.write();
  second.write();
  EXPECT_EQ(name(find("a@b")), "a@b|2");
  EXPECT_EQ(name(find("a@b@1")), "a@b|1");
  EXPECT_EQ(find("a@b@3").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(name(find("a")), "looking for job \"a\": nothing is recorded of it in " + folder_.path() +
                                 ", /no/such/folder; `goodput jobs` lists what is there");
}

TEST_F(Followed, PollsTakeWhatIsNewAndReportsCountIt) {
  JournalFixture journal(folder_.path(), {.boot_id = read_boot_id()});
  journal.append({.kind = Kind::kJobStart, .boot_ns = kBoot});
  steps(journal, 0, 10, kBoot + 5 * kSecond);
  clock_.advance(15 * kSecond);
  auto job = follow({.job = "llama-7b"});
  const report::Report before = report(*job);
  EXPECT_EQ(before.job, "llama-7b");
  EXPECT_EQ(before.last_step, 9);
  EXPECT_EQ(before.goodput_seconds, 9.0);
  EXPECT_EQ(before.status, report::JobStatus::kRunning);

  steps(journal, 10, 20, kBoot + 15 * kSecond);
  journal.append({.kind = Kind::kJobEnd, .boot_ns = kBoot + 25 * kSecond});
  journal.write();
  clock_.advance(10 * kSecond + 1);
  const report::Report after = report(*job);
  EXPECT_EQ(after.status, report::JobStatus::kCompleted);
  EXPECT_EQ(after.elapsed_seconds, 25.0);
  EXPECT_EQ(after.goodput_seconds, 20.0);
  EXPECT_EQ(after.badput_seconds, (report::SecondsByName{{"OTHER", 5.0}}));
  EXPECT_EQ(after.disruptions, 0);
}

TEST_F(Followed, FindingsOfTheJournalsAreInWords) {
  JournalFixture older(folder_.path(), {.id = 1});
  older.append({.kind = Kind::kJobStart, .boot_ns = kBoot});
  steps(older, 0, 10, kBoot + kSecond);
  older.alive_at(kBoot + 999 * kSecond);
  older.write();
  JournalFixture younger(
      folder_.path(), {.pid = 4343, .open_boot_ns = kBoot + 3 * kSecond, .open_wall_ns = kWall + 3 * kSecond, .id = 2});
  steps(younger, 0, 10, kBoot + 4 * kSecond);
  younger.alive_at(kBoot + 999 * kSecond);
  younger.write();
  clock_.advance(1000 * kSecond);
  const report::Report out = report(*follow({.job = "llama-7b"}));
  // Of another boot: which of them lives is told by time alone, and 1 s is nothing.
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_EQ(out.findings[0].kind, "two_writers");
  EXPECT_EQ(
      out.findings[0].message,
      "A second process recorded as rank 0, and was left out: process 4343 on node-3 beside process 4242 on node-3.");
  EXPECT_EQ(out.last_step, 9);
  EXPECT_EQ(out.goodput_seconds, 9.0);
}

}  // namespace
}  // namespace goodput::monitor
