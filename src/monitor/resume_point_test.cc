// SPDX-License-Identifier: Apache-2.0
#include "monitor/resume_point.h"

#include <filesystem>
#include <random>

#include "journal/cache_file.h"
#include "monitor/followed_fixture.h"

namespace goodput::monitor {
namespace {

class Resume : public FollowedFixture {
 protected:
  std::string account_path(const JournalFixture& journal) {
    return std::filesystem::path(journal.path()).parent_path() / journal::kKeptFolder / kResumePointFile;
  }
  /// As if nobody had kept anything; what was kept is there again afterwards.
  std::string report_without(const JournalFixture& journal) {
    const auto run = std::filesystem::path(journal.path()).parent_path();
    const auto copies = std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
    const TemporaryFolder aside;
    std::filesystem::copy(run / journal::kKeptFolder, aside.path(), copies);
    std::filesystem::remove_all(run / journal::kKeptFolder);
    const std::string report = cold_report();
    std::filesystem::remove_all(run / journal::kKeptFolder);
    std::filesystem::copy(aside.path(), run / journal::kKeptFolder, copies);
    std::filesystem::permissions(run / journal::kKeptFolder, std::filesystem::perms::owner_all);
    return report;
  }
  /// Some events of a job that is alive.
  void grow(JournalFixture& journal, std::mt19937_64& random, int64_t events) {
    for (int64_t i = 0; i < events; ++i) {
      boot_ns_ += kSecond / 2 + static_cast<int64_t>(random() % (kSecond / 10));
      if (random() % 5'000 == 0) step_ -= std::min<int64_t>(step_, static_cast<int64_t>(random() % 300));
      journal.append({.kind = Kind::kStepStart, .boot_ns = boot_ns_, .value = step_++});
      if (random() % 10 == 0) {
        journal.append({.kind = Kind::kDataLoadingStart, .boot_ns = boot_ns_ + 1'000});
        journal.append({.kind = Kind::kDataLoadingEnd, .boot_ns = boot_ns_ + 50'000});
      }
    }
    journal.alive_at(boot_ns_ + 1);
    journal.write();
  }

  int64_t boot_ns_ = kBoot;
  int64_t step_ = 0;
};

TEST_F(Resume, AReportFromAKeptAccountIsTheReportFromAllJournals) {
  std::mt19937_64 random(7);
  std::vector<std::unique_ptr<JournalFixture>> journals;
  const auto launch = [&](uint8_t id) {
    for (const int64_t index : {0, 1}) {
      journals.push_back(std::make_unique<JournalFixture>(
          folder_.path(), JournalFixture::Options{.attempt_id = "77." + std::to_string(id),
                                                  .boot_id = index == 0 ? read_boot_id() : "of another host",
                                                  .process_index = index,
                                                  .open_boot_ns = boot_ns_,
                                                  .open_wall_ns = kWall + boot_ns_ - kBoot,
                                                  .id = static_cast<uint8_t>(id * 2 + index)}));
      journals.back()->append({.kind = Kind::kCheckpointSave, .boot_ns = boot_ns_ + 9, .duration_ns = 7 * kSecond});
      journals.back()->write();
    }
  };
  uint8_t launches = 1;
  launch(launches);
  int kept = 0;
  for (int round = 0; round < 12; ++round) {
    grow(*journals[journals.size() - 2], random, round % 3 == 0 ? 22'000 : 1'000);
    clock_.advance(boot_ns_ + kSecond - clock_.boot_ns());
    const bool was_there = std::filesystem::exists(account_path(*journals[0]));
    const std::string resumed = cold_report();
    ASSERT_EQ(report_without(*journals[0]), resumed) << round;
    kept += !was_there && std::filesystem::exists(account_path(*journals[0])) ? 1 : 0;
    if (round % 4 == 2) {
      boot_ns_ += 90 * kSecond;
      launch(++launches);
    }
  }
  EXPECT_EQ(kept, 1) << "kept from the first report on";
}

TEST_F(Resume, CostsWhatIsNew) {
  std::mt19937_64 random(7);
  JournalFixture journal(folder_.path(), {.boot_id = read_boot_id()});
  grow(journal, random, 25'000);
  clock_.advance(boot_ns_ + kSecond - clock_.boot_ns());
  cold_report();
  const auto job = follow();
  size_t events = 0;
  ASSERT_TRUE(job->log()
                  .poll([&](std::span<const event::Event> given) {
                    events += given.size();
                    return true;
                  })
                  .ok());
  EXPECT_EQ(events, 0U);
  EXPECT_EQ(report_of(*job).last_step, step_ - 1);
}

TEST_F(Resume, DamageAnywhereIsAsIfThereWereNone) {
  std::mt19937_64 random(7);
  JournalFixture journal(folder_.path(), {.boot_id = read_boot_id()});
  grow(journal, random, 22'000);
  clock_.advance(boot_ns_ + kSecond - clock_.boot_ns());
  const std::string cold = cold_report();
  const auto kept =
      std::move(posix_file_system().open_directory(std::filesystem::path(account_path(journal)).parent_path())).value();
  const std::vector<std::byte> whole = read_whole_file(*kept, kResumePointFile, 1 << 20).value();
  for (int i = 0; i < 60; ++i) {
    std::vector<std::byte> damaged = whole;
    const size_t place = i < 20 ? static_cast<size_t>(i) : random() % whole.size();
    damaged[place] ^= std::byte{static_cast<uint8_t>(1U << random() % 8)};
    if (i % 3 == 2) damaged.resize(place);
    ASSERT_TRUE(journal::replace_cache_file(*kept, kResumePointFile, damaged).ok());
    ASSERT_EQ(cold_report(), cold) << place;
  }
}

TEST_F(Resume, OtherOptionsAndOtherFoldersStartFromNothing) {
  std::mt19937_64 random(7);
  JournalFixture journal(folder_.path(), {.boot_id = read_boot_id()});
  grow(journal, random, 22'000);
  clock_.advance(boot_ns_ + kSecond - clock_.boot_ns());
  const std::string cold = cold_report();
  const auto whole = std::filesystem::file_size(account_path(journal));
  ledger::Options options;
  options.dead_after_ns = kSecond / 2;
  const auto strict =
      std::move(FollowedJob::open(posix_file_system(), roots_, {.job = "llama-7b"}, options, clock_)).value();
  EXPECT_EQ(report_of(*strict).status, report::JobStatus::kDown);
  EXPECT_EQ(std::filesystem::file_size(account_path(journal)), whole) << "the usual account stays";
  const TemporaryFolder copy;
  std::filesystem::copy(folder_.path(), copy.path(), std::filesystem::copy_options::recursive);
  roots_ = {{.path = copy.path()}};
  EXPECT_EQ(cold_report(), cold);
}

TEST(ResumePointBytes, ComeBackAsTheyWere) {
  const ResumePoint point{.cursor = std::vector<std::byte>(300, std::byte{7}), .ledger = std::string("\0a\xff", 3)};
  const std::vector<std::byte> folders(9, std::byte{3}), others(9, std::byte{4});
  const std::vector<std::byte> bytes = encode_resume_point(point, folders);
  const auto again = decode_resume_point(bytes, folders);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->cursor, point.cursor);
  EXPECT_EQ(again->ledger, point.ledger);
  EXPECT_FALSE(decode_resume_point(bytes, others).has_value());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[i] ^= std::byte{1};
    EXPECT_FALSE(decode_resume_point(damaged, folders).has_value());
    EXPECT_FALSE(decode_resume_point(std::span(bytes).first(i), folders).has_value());
  }
}

}  // namespace
}  // namespace goodput::monitor
