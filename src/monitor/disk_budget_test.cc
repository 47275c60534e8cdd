// SPDX-License-Identifier: Apache-2.0
#include "monitor/disk_budget.h"

#include <cstdlib>
#include <filesystem>

#include "monitor/followed_fixture.h"
#include "monitor/resume_point.h"

namespace goodput::monitor {
namespace {

TEST(DiskBudgetWords, AreBytesOrPowersOf1024) {
  const auto budget = [](const char* text) {
    return disk_budget_bytes([&](const char* name) {
      EXPECT_STREQ(name, "GOODPUT_DISK_BUDGET");
      return text == nullptr ? std::nullopt : std::optional<std::string>(text);
    });
  };
  EXPECT_EQ(budget(nullptr), uint64_t{2} << 30);
  EXPECT_EQ(budget("0"), 0U);
  EXPECT_EQ(budget("12345"), 12'345U);
  EXPECT_EQ(budget("12345B"), 12'345U);
  EXPECT_EQ(budget("7K"), 7U << 10);
  EXPECT_EQ(budget("512MiB"), 512U << 20);
  EXPECT_EQ(budget("3GB"), uint64_t{3} << 30);
  EXPECT_EQ(budget("99999999999T"), ~uint64_t{0});
  for (const char* none : {"", "x", "3X", "3GiBs", "-1", "1.5G"}) EXPECT_EQ(budget(none), kDiskBudgetBytes) << none;
}

class Budget : public FollowedFixture {
 protected:
  Budget() { setenv("GOODPUT_DISK_BUDGET", "0", 1); }
  ~Budget() override { unsetenv("GOODPUT_DISK_BUDGET"); }
  static void set(uint64_t bytes) { setenv("GOODPUT_DISK_BUDGET", std::to_string(bytes).c_str(), 1); }

  /// A dead attempt of many segments; with its clock pair, sealed.
  std::unique_ptr<JournalFixture> attempt(int64_t number, int64_t index, int64_t first_step) {
    const int64_t later_ns = number * 40'000 * kSecond;
    auto made = std::make_unique<JournalFixture>(
        folder_.path(), JournalFixture::Options{.attempt_id = "77." + std::to_string(number),
                                                .boot_id = "boot of node " + std::to_string(index),
                                                .process_index = index,
                                                .open_boot_ns = kBoot + later_ns,
                                                .open_wall_ns = kWall + later_ns,
                                                .id = static_cast<uint8_t>(number * 4 + index + 1)});
    made->append({.kind = Kind::kCheckpointSave, .boot_ns = kBoot + later_ns + 9, .duration_ns = 7 * kSecond});
    for (int64_t i = 0; i < 30'000; ++i) {
      made->append({.kind = Kind::kStepStart,
                    .boot_ns = kBoot + later_ns + (i + 1) * kSecond + (i * 7919 % 1'000) * 100'000,
                    .value = first_step + i});
    }
    made->alive_at(kBoot + later_ns + 30'002 * kSecond);
    made->write();
    for (uint32_t segment = 1; segment <= made->number(); ++segment) CHECK(made->seal(segment).ok());
    clock_.advance(kBoot + later_ns + 30'060 * kSecond - clock_.boot_ns());
    return made;
  }
  uint64_t bytes() {
    uint64_t sum = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".sealed") sum += entry.file_size();
    }
    return sum;
  }
  static size_t sealed(const JournalFixture& journal) {
    const std::vector<std::string> names = files(journal);
    return static_cast<size_t>(
        std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sealed"); }));
  }
  report::Report cold() { return report_of(*follow()); }
  /// Without what the two may differ in.
  static std::string totals(report::Report report) {
    std::erase_if(report.findings, [](const report::Finding& finding) { return finding.kind == "coarse_windows"; });
    return report::to_json(report, report::JsonForm::kIndented);
  }
  static const report::Finding* coarse(const report::Report& report) {
    for (const report::Finding& finding : report.findings) {
      if (finding.kind == "coarse_windows") return &finding;
    }
    return nullptr;
  }
};

TEST_F(Budget, OtherRanksGoFirstAndNothingIsSaidDifferently) {
  const auto zero = attempt(0, 0, 0), one = attempt(0, 1, 0), two = attempt(0, 2, 0);
  const std::string before = totals(cold());
  cold();  // from the indexes
  const uint64_t all = bytes(), alone = all / 3;
  set(all - alone / 2);
  const report::Report first = cold();
  EXPECT_EQ(totals(first), before);
  EXPECT_EQ(coarse(first), nullptr);
  EXPECT_LE(bytes(), all - alone / 2);
  EXPECT_NE(std::filesystem::exists(one->path()), std::filesystem::exists(two->path())) << "one goes, whole";
  set(alone + alone / 2);
  cold();
  EXPECT_FALSE(std::filesystem::exists(one->path()) || std::filesystem::exists(two->path()));
  EXPECT_EQ(sealed(*zero), zero->number());
  const report::Report after = cold();
  EXPECT_EQ(totals(after), before);
  EXPECT_EQ(coarse(after), nullptr);
  EXPECT_EQ(after.ranks.size(), 2U);
}

TEST_F(Budget, ThenTheOldestOfRankZeroOnceTheAccountKnowsThem) {
  const auto first = attempt(0, 0, 0), second = attempt(1, 0, 29'000);
  const report::Report before = cold();
  EXPECT_EQ(before.disruptions, 1);
  const uint64_t all = bytes();
  set(all * 3 / 4);
  EXPECT_EQ(totals(cold()), totals(before));
  EXPECT_LE(bytes(), all * 3 / 4);
  EXPECT_EQ(sealed(*second), second->number());
  EXPECT_LT(sealed(*first), first->number());
  const report::Report after = cold();
  EXPECT_EQ(totals(after), totals(before));
  ASSERT_NE(coarse(after), nullptr);
  EXPECT_GT(*coarse(after)->first_ns, kWall);

  // Other options cannot use the account, and say so.
  ledger::Options options;
  options.dead_after_ns = 90 * kSecond;
  const auto other =
      std::move(FollowedJob::open(posix_file_system(), roots_, {.job = "llama-7b"}, options, clock_)).value();
  const report::Report rest = report_of(*other);
  EXPECT_EQ(rest.findings.back().kind, "history_dropped");

  // It goes on: what is recorded later is added to what is kept.
  set(0);
  const auto third = attempt(2, 0, 59'000);
  const report::Report grown = cold();
  EXPECT_EQ(grown.disruptions, 2);
  EXPECT_EQ(grown.last_step, 88'999);
  EXPECT_EQ(grown.start_ns, before.start_ns);
  EXPECT_GT(grown.goodput_seconds, before.goodput_seconds + 28'000);
}

TEST_F(Budget, AnAccountThatCannotBeKeptDropsNothingAndChangesNoAnswer) {
  const auto first = attempt(0, 0, 0), second = attempt(1, 0, 29'000);
  const std::string before = totals(cold());
  const uint64_t all = bytes();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.path().filename() != journal::kKeptFolder) continue;
    std::filesystem::remove(entry.path() / kResumePointFile);
    std::filesystem::create_directories(entry.path() / kResumePointFile / "in the way");
    break;
  }
  set(all * 3 / 4);
  const auto job = follow();
  EXPECT_EQ(totals(report_of(*job)), before);
  EXPECT_EQ(bytes(), all);
  const report::Report again = report_of(*job);
  EXPECT_EQ(totals(again), before);
  EXPECT_EQ(coarse(again), nullptr);
}

TEST_F(Budget, LiveFilesLockedJournalsAndTheLastSegmentsStay) {
  const auto dead = attempt(0, 0, 0);
  JournalFixture alive(folder_.path(), {.attempt_id = "77.1",
                                        .boot_id = read_boot_id(),
                                        .open_boot_ns = clock_.boot_ns(),
                                        .open_wall_ns = clock_.wall_ns(),
                                        .id = 99});
  const int64_t boot_ns = clock_.boot_ns();
  for (int64_t i = 0; i < 3'000; ++i)
    alive.append({.kind = Kind::kStepStart, .boot_ns = boot_ns + i * kSecond, .value = 30'000 + i});
  alive.alive_at(boot_ns + 3'000 * kSecond);
  alive.write();
  ASSERT_TRUE(alive.seal(1).ok());
  clock_.advance(3'001 * kSecond);
  const std::vector<std::string> live_files = files(alive);
  set(1);
  cold();
  cold();
  EXPECT_EQ(files(alive), live_files);
  EXPECT_TRUE(std::filesystem::exists(dead->path() + "/" +
                                      journal::segment_name(dead->number(), journal::SegmentForm::kSealed)));
  EXPECT_EQ(cold().last_step, 32'999);
}

}  // namespace
}  // namespace goodput::monitor
