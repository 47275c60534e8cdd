// SPDX-License-Identifier: Apache-2.0
#include "monitor/followed_job.h"

#include "monitor/followed_fixture.h"

namespace goodput::monitor {
namespace {

class Followed : public FollowedFixture {
 protected:
  static std::string name(const Result<RunName>& run) {
    return run.ok() ? run->job + "|" + run->run_id : run.status().message();
  }
  Result<RunName> find(std::string_view text) { return find_run(posix_file_system(), roots_, text); }
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
  auto job = follow();
  const report::Report before = report_of(*job);
  EXPECT_EQ(before.job, "llama-7b");
  EXPECT_EQ(before.last_step, 9);
  EXPECT_EQ(before.goodput_seconds, 9.0);
  EXPECT_EQ(before.status, report::JobStatus::kRunning);

  steps(journal, 10, 20, kBoot + 15 * kSecond);
  journal.append({.kind = Kind::kJobEnd, .boot_ns = kBoot + 25 * kSecond});
  journal.write();
  clock_.advance(10 * kSecond + 1);
  const report::Report after = report_of(*job);
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
  const report::Report out = report_of(*follow());
  // Of another boot: which of them lives is told by time alone, and 1 s is nothing.
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_EQ(out.findings[0].kind, "two_writers");
  EXPECT_EQ(
      out.findings[0].message,
      "A second process recorded as rank 0, and was left out: process 4343 on node-3 beside process 4242 on node-3.");
  EXPECT_EQ(out.last_step, 9);
  EXPECT_EQ(out.goodput_seconds, 9.0);
}

TEST_F(Followed, RanksOfTheLatestAttemptAndWhoStoppedFirstInTheOneThatDied) {
  const auto rank = [&](uint8_t id, int64_t index, int64_t attempt) {
    return JournalFixture(folder_.path(), {.attempt_id = "77." + std::to_string(attempt),
                                           .host = "node-" + std::to_string(index),
                                           .process_index = index,
                                           .open_boot_ns = kBoot + attempt * 100 * kSecond,
                                           .open_wall_ns = kWall + attempt * 100 * kSecond,
                                           .id = id});
  };
  JournalFixture zero = rank(1, 0, 0), two = rank(2, 2, 0), five = rank(3, 5, 0), next = rank(4, 0, 1),
                 last = rank(5, 1, 1);
  steps(zero, 0, 30, kBoot);
  steps(two, 0, 21, kBoot);  // its last sign is 9 s before the others'
  steps(five, 0, 30, kBoot);
  steps(next, 20, 60, kBoot + 100 * kSecond);
  steps(last, 20, 60, kBoot + 100 * kSecond);
  clock_.advance(141 * kSecond);
  const report::Report out = report_of(*follow());
  ASSERT_EQ(out.ranks.size(), 1U);
  EXPECT_EQ(out.ranks[0].process_index, 1);
  EXPECT_EQ(out.ranks[0].host, "node-1");
  EXPECT_EQ(out.ranks[0].last_heartbeat_ns, kWall + 140 * kSecond);
  EXPECT_EQ(out.ranks[0].lateness_p99_seconds, 0.0);
  EXPECT_EQ(out.attempts[0].status, report::AttemptStatus::kDied);
  EXPECT_EQ(out.attempts[1].status, report::AttemptStatus::kRunning);
  EXPECT_EQ(out.first_stopped_rank, 2);
}

}  // namespace
}  // namespace goodput::monitor
