// SPDX-License-Identifier: Apache-2.0
#include "journal/rank_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/cache_file.h"
#include "journal/index_writer.h"
#include "journal/journal_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;
constexpr int64_t kWall = 1'767'225'600 * kSecond;

std::string text_of(const event::Event& event) {
  std::ostringstream out;
  out << event.time_ns << ' ' << event.position.major << ' ' << event.position.minor << " kind "
      << static_cast<int>(event.kind) << ' ' << int{event.flags} << " step " << event.step << " for "
      << event.duration_ns << ' ' << event.name << " at "
      << (event.detail == nullptr ? std::string_view("-") : event.detail->location) << " of "
      << event.origin->attempt_id << ' ' << event.origin->host << ' ' << event.origin->boot_id << ' '
      << event.origin->process_index << ' ' << event.origin->pid << '\n';
  return out.str();
}

/// The first lines in which two texts differ; nothing when they are the same.
std::string difference(const std::string& a, const std::string& b) {
  std::istringstream first(a), second(b);
  std::string line_of_a, line_of_b;
  while (a != b) {
    const bool any_a = static_cast<bool>(std::getline(first, line_of_a));
    const bool any_b = static_cast<bool>(std::getline(second, line_of_b));
    if (any_a != any_b || line_of_a != line_of_b) return line_of_a + "\n" + line_of_b;
  }
  return "";
}

/// Two launches of four ranks, all dead and sealed.
class Index : public testing::Test {
 protected:
  Index() {
    for (int64_t launch = 0; launch < 2; ++launch) {
      for (int64_t index = 0; index < 4; ++index) journals_.push_back(make(launch, index));
    }
  }

  std::unique_ptr<JournalFixture> make(int64_t launch, int64_t index, std::string attempt_id = {}) {
    const int64_t later_ns = launch * 1'000 * kSecond + index * kSecond / 4;
    auto made = std::make_unique<JournalFixture>(
        folder_.path(),
        JournalFixture::Options{.attempt_id = attempt_id.empty() ? "77." + std::to_string(launch) : attempt_id,
                                .host = "node-" + std::to_string(index / 2),
                                .boot_id = "boot of node " + std::to_string(index / 2),
                                .process_index = index,
                                .pid = 4'000 + index,
                                .open_boot_ns = kBoot + later_ns + index / 2 * 77,
                                .open_wall_ns = kWall + later_ns,
                                .id = static_cast<uint8_t>(10 * launch + index + 1)});
    made->define(1, "gs://ckpt/" + std::to_string(index % 2));
    for (int64_t step = 0; step < 40; ++step) {
      const int64_t boot_ns = kBoot + later_ns + (step + 1) * kSecond;
      const int64_t late_ns = index == 3 && step % 10 == 3 ? 300'000'000 : 0;
      made->append({.kind = Kind::kStepStart, .boot_ns = boot_ns + late_ns, .value = step});
      if (step % 10 != 9) continue;
      made->append({.kind = Kind::kCheckpointSave,
                    .flags = event::kHasStep,
                    .name = static_cast<uint16_t>(step == 19 ? kMoreNames : 1),
                    .boot_ns = boot_ns + kSecond / 2,
                    .value = step,
                    .has_wall_time = true,
                    .wall_ns = made->wall_ns(boot_ns) + 1'000,
                    .duration_ns = kSecond / 4 + index});
      if (index == 2)
        made->append({.kind = Kind::kCheckpointRestore, .boot_ns = boot_ns + kSecond / 3, .duration_ns = 5});
    }
    made->alive_at(kBoot + later_ns + 45 * kSecond);
    if (index == 1) made->live().put_counter(Counter::kNoSpace, 3);
    if (index == 3) made->live().bytes()[made->live().layout().runs_offset + size_t{7} * kSlotBytes] ^= std::byte{1};
    made->write();
    CHECK(made->seal(1).ok());
    return made;
  }
  std::unique_ptr<JobLog> open() {
    return std::move(JobLog::open(posix_file_system(), {{.path = folder_.path()}}, "llama-7b", "", clock_)).value();
  }
  static std::string polled(JobLog& log) {
    std::string text;
    CHECK(log.poll([&](std::span<const event::Event> events) {
               for (const event::Event& event : events) text += text_of(event);
               return true;
             })
              .ok());
    return text;
  }
  /// All that a log says.
  static std::string told(JobLog& log) {
    std::ostringstream out;
    for (const int64_t from_s : {0, 12, 700, 1'015}) {
      (void)log.read(kWall + from_s * kSecond, kWall + (from_s + 400) * kSecond, [&](auto events) {
        for (const event::Event& event : events) out << "read " << text_of(event);
        return true;
      });
    }
    for (const Finding& found : log.findings()) {
      out << found.kind << ' ' << found.count << ' ' << found.first_ns << ' ' << found.detail << '\n';
    }
    for (size_t attempt = 0; attempt < log.attempts().size(); ++attempt) {
      for (const RankSigns& rank : ranks_of(log, attempt)) {
        out << attempt << " rank " << rank.process_index << ' ' << rank.host << ' ' << rank.boot_id << ' '
            << rank.last_sign_ns << ' ' << rank.late_p90_ns.value_or(-1) << ' ' << rank.late_p99_ns.value_or(-1)
            << '\n';
      }
      out << signs_of(log, attempt).size() << " ranks\n";
    }
    return out.str();
  }
  std::string cold() {
    const auto log = open();
    const std::string events = polled(*log);
    return events + told(*log);
  }
  static void write_indexes(JobLog& log, const Clock& clock) {
    IndexWriter(log, clock).write(log.run_folders(), [] { return false; });
  }
  void index_all() {
    const auto log = open();
    (void)polled(*log);
    write_indexes(*log, clock_);
  }
  std::unique_ptr<Directory> run_folder() {
    return std::move(posix_file_system().open_directory(std::filesystem::path(journals_[0]->path()).parent_path()))
        .value();
  }
  std::unique_ptr<Directory> kept() { return std::move(run_folder()->open_directory(kKeptFolder)).value(); }
  std::vector<std::string> index_files() {
    std::vector<std::string> found;
    const std::vector<std::string> names = kept()->list().value();
    for (const std::string& name : names) {
      if (name.ends_with(".ranks")) found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<std::byte> bytes_of(const std::string& name) {
    return read_whole_file(*kept(), name, kMaxIndexBytes).value();
  }
  /// Nothing but indexes tell of ranks besides 0 from here on.
  void empty_rank_journals() {
    for (const auto& journal : journals_) {
      if (journal != journals_[0] && journal != journals_[4])
        std::filesystem::remove(journal->path() + "/00000001.sealed");
    }
  }

  TemporaryFolder folder_;
  ManualClock clock_{{.boot_ns = kBoot + 9'000 * kSecond, .wall_ns = kWall + 9'000 * kSecond}};
  std::vector<std::unique_ptr<JournalFixture>> journals_;
};

TEST_F(Index, StandsForTheJournalsOfTheRanks) {
  const std::string journals = cold();
  EXPECT_TRUE(journals.find("gs://ckpt/1") != std::string::npos);
  EXPECT_TRUE(journals.find("events_dropped 6") != std::string::npos);
  EXPECT_TRUE(journals.find("events_lost 2") != std::string::npos);
  EXPECT_TRUE(journals.find("rank 3 node-1 boot of node 1 1767226645749999923 300000000 300000000") !=
              std::string::npos);
  index_all();
  EXPECT_EQ(index_files().size(), 2U);
  EXPECT_EQ(kept()->facts(index_files()[0])->permissions, 0600U);
  EXPECT_EQ(difference(cold(), journals), "");
  empty_rank_journals();
  EXPECT_EQ(difference(cold(), journals), "");
  EXPECT_EQ(open()->members().size(), 0U);
  for (const std::string& name : index_files()) ASSERT_TRUE(kept()->remove_file(name).ok());
  EXPECT_NE(difference(cold(), journals), "");
}

TEST_F(Index, DamageAnywhereIsAsIfThereWereNone) {
  const std::string journals = cold();
  index_all();
  const std::string name = index_files()[0];
  const std::vector<std::byte> whole = bytes_of(name);
  ASSERT_LT(whole.size(), 1'000U);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::byte> damaged = whole;
    damaged[i] ^= std::byte{static_cast<uint8_t>(1 << i % 8)};
    ASSERT_FALSE(decode_index(damaged).ok()) << i;
    ASSERT_FALSE(decode_index(std::span(whole).first(i)).ok()) << i;
    for (const auto& bytes : {std::span<const std::byte>(damaged), std::span(whole).first(i)}) {
      ASSERT_TRUE(replace_cache_file(*kept(), name, bytes).ok());
      ASSERT_EQ(difference(cold(), journals), "") << i;
    }
  }
}

TEST_F(Index, ALogGoesOnWhileItsRanksAreIndexedAndFromItsCursor) {
  const auto first = open();
  const std::string events = polled(*first);
  const std::string said = told(*first);
  write_indexes(*first, clock_);
  EXPECT_EQ(polled(*first), "");
  EXPECT_EQ(difference(told(*first), said), "");
  const std::vector<std::byte> cursor = first->cursor();
  empty_rank_journals();  // the cursor refers to the indexes

  const auto second = open();
  ASSERT_TRUE(second->resume(cursor).ok());
  EXPECT_EQ(polled(*second), "");
  EXPECT_EQ(difference(told(*second), said), "");
  const auto third = open();
  EXPECT_EQ(difference(polled(*third), events), "");
  EXPECT_EQ(difference(told(*third), said), "");
  const std::vector<std::byte> small = third->cursor();
  EXPECT_EQ(small.size(), cursor.size());

  const std::string name = index_files()[0];
  std::vector<std::byte> damaged = bytes_of(name);
  damaged[40] ^= std::byte{1};
  ASSERT_TRUE(replace_cache_file(*kept(), name, damaged).ok());
  EXPECT_EQ(open()->resume(cursor).code(), StatusCode::kUnsupported);
}

TEST_F(Index, GrowsWithItsLaunchAndOldCursorsGoOn) {
  index_all();
  const auto before = open();
  (void)polled(*before);
  const std::vector<std::byte> cursor = before->cursor();
  journals_.push_back(make(1, 5));
  const std::string all = cold();
  index_all();
  EXPECT_EQ(decode_index(bytes_of(index_files()[1]))->journals.size(), 4U);
  EXPECT_EQ(difference(cold(), all), "");
  const auto resumed = open();
  ASSERT_TRUE(resumed->resume(cursor).ok());
  const std::string news = polled(*resumed);
  EXPECT_EQ(std::count(news.begin(), news.end(), '\n'), 4) << "the new rank's checkpoints, and no other's";
  const auto fresh = open();
  (void)polled(*fresh);
  EXPECT_EQ(difference(told(*resumed), told(*fresh)), "");
}

TEST_F(Index, OneThatNoLongerFitsIsPassedOver) {
  index_all();
  // A rank 0 that is found later turns out to have opened the second launch, ten seconds before the one that was known.
  journals_.push_back(
      std::make_unique<JournalFixture>(folder_.path(), JournalFixture::Options{.attempt_id = "77.1",
                                                                               .boot_id = "boot of node 0",
                                                                               .open_boot_ns = kBoot + 1'030 * kSecond,
                                                                               .open_wall_ns = kWall + 1'030 * kSecond,
                                                                               .id = 99}));
  JournalFixture& taken_up = *journals_.back();
  taken_up.append({.kind = Kind::kStepStart, .boot_ns = kBoot + 1'050 * kSecond, .value = 3});
  taken_up.write();
  const std::string with = cold();
  for (const std::string& name : index_files()) ASSERT_TRUE(kept()->remove_file(name).ok());
  EXPECT_EQ(difference(cold(), with), "");
}

TEST_F(Index, OfAnotherRunOrANewerVersionIsNotRead) {
  const std::string journals = cold();
  index_all();
  const std::string name = index_files()[0];
  RankIndex other = decode_index(bytes_of(name)).value();
  for (IndexedJournal& journal : other.journals) journal.pulse_boot_ns += 9;
  other.run_id = "another";
  ASSERT_TRUE(replace_cache_file(*kept(), name, encode_index(other)).ok());
  EXPECT_EQ(difference(cold(), journals), "");
  std::vector<std::byte> newer = bytes_of(index_files()[1]);
  newer[8] = std::byte{2};
  const uint32_t checksum = crc32c_around(std::span(newer).first(32), 28);
  std::memcpy(newer.data() + 28, &checksum, sizeof(checksum));
  EXPECT_EQ(decode_index(newer).status().code(), StatusCode::kUnsupported);
  ASSERT_TRUE(replace_cache_file(*kept(), index_files()[1], newer).ok());
  EXPECT_EQ(difference(cold(), journals), "");
  index_all();
  EXPECT_EQ(bytes_of(index_files()[1]), newer) << "left to the program that wrote it";
}

TEST_F(Index, RunsAreListedAsWithoutIt) {
  JournalFixture other(folder_.path(), {.run_id = "r2", .open_wall_ns = kWall - 5 * kSecond, .id = 77});
  other.write();
  const std::vector<Root> roots = {{.path = folder_.path()}};
  const auto listed = [&] {
    std::string text;
    for (const RunEntry& run : list_runs(posix_file_system(), roots, "llama-7b")) {
      text += run.job + "@" + run.run_id + " " + std::to_string(run.journals) + " " +
              std::to_string(run.first_start_ns - kWall) + " " + std::to_string(run.last_start_ns - kWall) + "\n";
    }
    return text;
  };
  const std::string before = listed();
  EXPECT_EQ(before, "llama-7b@r2 1 -5000000000 -5000000000\nllama-7b@ 8 0 1000750000000\n");
  index_all();
  empty_rank_journals();
  EXPECT_EQ(listed(), before);
}

TEST(RankIndexBytes, ComeBackAsTheyWere) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    RankIndex index{.job = "a job", .run_id = "r"};
    index.rank_zero.fill(7);
    for (int i = 0; i < 5; ++i) index.place_of("text " + std::to_string(random() % 9));
    const auto any = [&] { return static_cast<int64_t>(random() >> (random() % 64)) * (random() % 2 == 0 ? 1 : -1); };
    for (uint64_t i = random() % 20; i > 0; --i) {
      IndexedJournal& journal = index.journals.emplace_back();
      for (uint8_t& byte : journal.id) byte = static_cast<uint8_t>(random());
      journal.process_index = any();
      journal.pid = any();
      journal.open = {any(), any()};
      journal.pulse_boot_ns = any();
      journal.last_event_boot_ns = any();
      journal.folder_modified_ns = any();
      journal.host = static_cast<uint32_t>(random() % index.strings.size());
      if (random() % 2 == 0) journal.late_p90_ns = any();
      if (random() % 2 == 0) journal.late_p99_ns = any();
      journal.is_dropped = random() % 3 == 0;
      for (uint64_t k = random() % 4; k > 0; --k) {
        LiveEvent event{
            .kind = Kind::kCheckpointSave, .name = 1, .boot_ns = any(), .value = any(), .duration_ns = any()};
        event.has_wall_time = random() % 2 == 0;
        if (event.has_wall_time) event.wall_ns = any();
        journal.times.add(event);
        ++journal.events;
        index.events.push_back({{event, static_cast<uint32_t>(random())}, static_cast<uint32_t>(random())});
      }
    }
    const Result<RankIndex> again = decode_index(encode_index(index));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->journals, index.journals);
    EXPECT_EQ(again->strings, index.strings);
    ASSERT_EQ(again->events.size(), index.events.size());
    for (size_t i = 0; i < index.events.size(); ++i) {
      EXPECT_TRUE(same_event(again->events[i].stored.event, index.events[i].stored.event));
      EXPECT_EQ(again->events[i].stored.slot, index.events[i].stored.slot);
      EXPECT_EQ(again->events[i].segment, index.events[i].segment);
    }
  }
}

}  // namespace
}  // namespace goodput::journal
