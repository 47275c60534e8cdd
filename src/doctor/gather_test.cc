// The facts of jobs as they lie on disk, and of folders as they are.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "doctor/checks.h"
#include "journal/journal_fixture.h"

namespace goodput::doctor {
namespace {

using event::Kind;
using ::testing::HasSubstr;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kOpenBoot = 5 * kSecond;
constexpr int64_t kNow = (1'767'225'600 + 100'000) * kSecond;

journal::Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

class DoctorJob : public ::testing::Test {
 protected:
  using Journal = journal::JournalFixture;

  JobFacts look(const std::string& name = "llama-7b") {
    return look_at_job(posix_file_system(), {{.path = folder_.path()}}, name, kNow, system_clock());
  }
  Verdict verdict(std::string_view check) {
    const Facts facts{.job = look()};
    for (const Line& line : examine(facts)) {
      if (line.check == check) return line.opinion.verdict;
    }
    ADD_FAILURE() << check << " does not apply";
    return Verdict::kGreen;
  }
  static int64_t boot(double seconds) { return kOpenBoot + static_cast<int64_t>(seconds * kSecond); }
  static void add(Journal& journal, double seconds, Kind kind, int64_t value = 0) {
    journal.append({.kind = kind, .boot_ns = boot(seconds), .value = value});
  }

  TemporaryFolder folder_;
};

TEST_F(DoctorJob, AnEvaluationThatNobodyRecordsIsFound) {
  Journal journal(folder_.path(), {});
  add(journal, 0, Kind::kJobStart);
  double at = 10;
  for (int64_t step = 0; step < 1'000; ++step) {
    add(journal, at, Kind::kStepStart, step);
    at += step % 100 == 99 ? 16 : 1;
  }
  journal.alive_at(boot(at));
  journal.write();
  const JobFacts job = look();
  ASSERT_TRUE(job.regular_stall.has_value());
  EXPECT_EQ(job.regular_stall->period, 100);
  EXPECT_EQ(job.regular_stall->first_step, 99);
  EXPECT_NEAR(job.regular_stall->mean_seconds, 15, 1e-9);
  EXPECT_EQ(verdict("regular_stalls"), Verdict::kYellow);
  EXPECT_EQ(verdict("input"), Verdict::kGreen);
}

TEST_F(DoctorJob, AnEvaluationThatIsRecordedIsNoStall) {
  Journal journal(folder_.path(), {});
  journal.define(1, "eval");
  double at = 10;
  for (int64_t step = 0; step < 1'000; ++step, at += 1) {
    add(journal, at, Kind::kStepStart, step);
    if (step % 100 != 99) continue;
    journal.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = boot(at + 1)});
    journal.append({.kind = Kind::kCustomEnd, .name = 1, .boot_ns = boot(at += 15)});
  }
  journal.write();
  EXPECT_FALSE(look().regular_stall.has_value());
  EXPECT_EQ(verdict("job_start"), Verdict::kYellow);
}

TEST_F(DoctorJob, AnInputBoundLoopIsFound) {
  Journal journal(folder_.path(), {});
  add(journal, 0, Kind::kJobStart);
  for (int64_t step = 0; step < 200; ++step) {
    const double at = static_cast<double>(100 * step);
    add(journal, at + 10, Kind::kDataLoadingStart);
    add(journal, at + 100, Kind::kDataLoadingEnd);
    add(journal, at + 100.0, Kind::kStepStart, step);
  }
  journal.write();
  const JobFacts job = look();
  EXPECT_EQ(job.survey.loads_before_steps, 199);
  EXPECT_EQ(job.survey.loads_before_steps_ns, 199 * 90 * kSecond);
  EXPECT_EQ(verdict("input"), Verdict::kRed);
}

TEST_F(DoctorJob, TellsWhoRecorded) {
  EXPECT_THAT(look().absence, HasSubstr("nothing is recorded of it"));
  Journal launcher(folder_.path(), {.role = "launcher", .id = 2});
  launcher.write();
  EXPECT_TRUE(look().has_launcher);
  EXPECT_EQ(verdict("lead"), Verdict::kRed);
  Journal rank(folder_.path(), {.process_index = 1, .id = 3});
  add(rank, 1, Kind::kStepStart, 1);
  rank.write();
  EXPECT_TRUE(look().has_others);
  EXPECT_FALSE(look().has_lead);
  EXPECT_EQ(verdict("lead"), Verdict::kRed);
  Journal lead(folder_.path(), {.id = 1});
  add(lead, 1, Kind::kStepStart, 1);
  lead.write();
  EXPECT_EQ(look().absence, "");
  EXPECT_EQ(verdict("lead"), Verdict::kGreen);
  EXPECT_GT(look().journal_bytes, 0U);
}

TEST(DoctorFolder, OneThatIsThereOrCanBeMadeWillDo) {
  const TemporaryFolder folder;
  const FolderFacts there = look_at_folder({{.path = folder.path()}}, environment_of({}), true);
  EXPECT_EQ(there.obstacle, "");
  EXPECT_TRUE(there.is_there);
  EXPECT_GT(there.free_bytes, 0U);
  EXPECT_NE(there.kind, "");
  const FolderFacts to_come =
      look_at_folder({{.path = folder.path() + "/a/b"}}, environment_of({{"GOODPUT_DISK_BUDGET", "5G"}}), true);
  EXPECT_EQ(to_come.obstacle, "");
  EXPECT_FALSE(to_come.is_there);
  EXPECT_EQ(to_come.budget_bytes, uint64_t{5} << 30);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/a"));
}

TEST(DoctorFolder, ThoseThatTheRecorderRefusesAreTold) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const auto obstacle = [&](const journal::Root& root) {
    return look_at_folder({root}, environment_of({}), true).obstacle;
  };
  EXPECT_THAT(obstacle({.path = folder.path() + "/file"}), HasSubstr("is no folder"));
  EXPECT_THAT(obstacle({.path = folder.path() + "/file/below"}), HasSubstr("Not a directory"));
  std::filesystem::create_directory_symlink(folder.path(), folder.path() + "/link");
  EXPECT_EQ(obstacle({.path = folder.path() + "/link"}), "");
  EXPECT_THAT(obstacle({.path = folder.path() + "/link", .in_public_place = true}), HasSubstr("it is a link"));
  if (geteuid() != 0) GTEST_SKIP() << "giving a folder to somebody else takes root";
  std::filesystem::create_directories(folder.path() + "/theirs/v1");
  ASSERT_EQ(chown((folder.path() + "/theirs/v1").c_str(), 4'242, 4'242), 0);
  EXPECT_THAT(obstacle({.path = folder.path() + "/theirs"}), HasSubstr("belongs to user 4242, and this is user 0"));
  ASSERT_EQ(chown((folder.path() + "/theirs").c_str(), 4'242, 4'242), 0);
  EXPECT_THAT(obstacle({.path = folder.path() + "/theirs", .in_public_place = true}),
              HasSubstr("belongs to somebody else"));
}

TEST(DoctorFolder, OfTheDefaultsTheFirstThatWillDoIsLookedAt) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const std::string good = folder.path() + "/good";
  EXPECT_EQ(look_at_folder({{.path = folder.path() + "/file"}, {.path = good}}, environment_of({}), false).path, good);
  EXPECT_EQ(look_at_folder({{.path = folder.path() + "/file"}}, environment_of({}), false).path,
            folder.path() + "/file");
}

}  // namespace
}  // namespace goodput::doctor
