// SPDX-License-Identifier: Apache-2.0
#include "monitor/upkeep.h"

#include <cerrno>
#include <filesystem>

#include "base/fault_file_system.h"
#include "monitor/followed_fixture.h"

namespace goodput::monitor {
namespace {

using testing::UnorderedElementsAre;

class Upkeep : public FollowedFixture {};

TEST_F(Upkeep, AReportSealsTheDeadAndSaysTheSameBeforeAndAfter) {
  JournalFixture trainer(folder_.path(), {.boot_id = read_boot_id()});
  trainer.append({.kind = Kind::kJobStart, .boot_ns = kBoot});
  steps(trainer, 0, 2'000, kBoot + kSecond);
  ASSERT_EQ(trainer.number(), 2U);
  clock_.advance(2'002 * kSecond);
  cold_report();
  EXPECT_THAT(files(trainer), UnorderedElementsAre("00000001.live", "00000002.live")) << "alive a second ago";

  clock_.advance(60 * kSecond);
  const auto patient = follow();
  const std::string before = report::to_json(report_of(*patient), report::JsonForm::kIndented);
  EXPECT_THAT(files(trainer), UnorderedElementsAre("00000001.sealed", "00000002.sealed", "lock"));
  EXPECT_EQ(report::to_json(report_of(*patient), report::JsonForm::kIndented), before);
  EXPECT_EQ(cold_report(), before);
  EXPECT_NE(before.find("\"last_step\": 1999"), std::string::npos) << before;
}

TEST_F(Upkeep, WhereverTheDiskFailsReportsStayTheSame) {
  FaultyFileSystem disk(posix_file_system());
  uint64_t n = 1;
  for (bool was_reached = true; was_reached; ++n) {
    std::filesystem::remove_all(folder_.path() + "/v1");
    JournalFixture trainer(folder_.path(), {});
    steps(trainer, 0, 10, kBoot);
    disk.fail_call(0, 0);
    const auto job = std::move(FollowedJob::open(disk, roots_, {.job = "llama-7b"}, {}, clock_)).value();
    ASSERT_TRUE(job->poll().ok());
    disk.fail_call(n, EROFS, /*for_ever=*/true);
    const std::string failing = report::to_json(job->report({.now_ns = clock_.wall_ns()}).value());
    was_reached = disk.calls() >= n;
    EXPECT_EQ(report::to_json(report_of(*follow())), failing) << n;
  }
  EXPECT_GT(n, 15U);
}

TEST_F(Upkeep, DamageThatASealedSegmentStatesIsCountedOnce) {
  JournalFixture trainer(folder_.path(), {});
  steps(trainer, 0, 100, kBoot);
  trainer.live().bytes()[trainer.live().layout().runs_offset + size_t{50} * journal::kSlotBytes] ^= std::byte{1};
  trainer.write();
  const std::string before = cold_report();
  EXPECT_NE(before.find("events_lost"), std::string::npos);
  EXPECT_EQ(cold_report(), before);
}

}  // namespace
}  // namespace goodput::monitor
