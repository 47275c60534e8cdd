// SPDX-License-Identifier: Apache-2.0
#include "journal/job_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;
using testing::ElementsAre;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;  // when journals are opened
constexpr int64_t kWall = 1'767'225'600 * kSecond;

/// An event without the views that its producer owns.
struct Seen {
  int64_t time_ns;
  event::Position position;
  Kind kind;
  int64_t step;
  std::string name;
  std::string attempt;
  int64_t process_index;
  friend bool operator==(const Seen&, const Seen&) = default;
};

class Log : public testing::Test {
 protected:
  JobLog& open() {
    log_ = std::move(JobLog::open(posix_file_system(), {{.path = folder_.path()}}, "llama-7b", "", clock_)).value();
    given_.clear();
    return *log_;
  }
  static Seen seen(const event::Event& event) {
    return {event.time_ns,        event.position,          event.kind,
            event.step,           std::string(event.name), std::string(event.origin->attempt_id),
            event.process_index()};
  }
  /// What one poll gives; checks that it comes in order.
  std::vector<Seen> poll() {
    std::vector<Seen> got;
    EXPECT_TRUE(log_->poll([&](std::span<const event::Event> events) {
                      for (const event::Event& event : events) got.push_back(seen(event));
                      return true;
                    })
                    .ok());
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end(), stands_first));
    given_.insert(given_.end(), got.begin(), got.end());
    return got;
  }
  std::vector<Seen> read(int64_t from_ns, int64_t to_ns) {
    std::vector<Seen> got;
    EXPECT_TRUE(log_->read(from_ns, to_ns,
                           [&](std::span<const event::Event> events) {
                             for (const event::Event& event : events) got.push_back(seen(event));
                             return true;
                           })
                    .ok());
    return got;
  }
  static bool stands_first(const Seen& a, const Seen& b) {
    return std::tie(a.time_ns, a.position) < std::tie(b.time_ns, b.position);
  }
  static std::vector<Seen> without_heartbeats(std::vector<Seen> events) {
    std::erase_if(events, [](const Seen& event) { return event.kind == Kind::kHeartbeat; });
    std::sort(events.begin(), events.end(), stands_first);
    return events;
  }
  static std::vector<int64_t> steps(const std::vector<Seen>& events) {
    std::vector<int64_t> steps;
    for (const Seen& event : events) {
      if (event.kind == Kind::kStepStart) steps.push_back(event.step);
    }
    return steps;
  }
  const Finding* finding(const std::string& kind) {
    findings_ = log_->findings();
    for (const Finding& found : findings_) {
      if (found.kind == kind) return &found;
    }
    return nullptr;
  }
  static LiveEvent step(int64_t number, int64_t boot_ns) {
    return {.kind = Kind::kStepStart, .boot_ns = boot_ns, .value = number};
  }

  TemporaryFolder folder_;
  /// A second after the journals were opened: a reader takes nothing from the future of a process on its own machine.
  ManualClock clock_{{.boot_ns = kBoot + kSecond, .wall_ns = kWall + kSecond}};
  std::unique_ptr<JobLog> log_;
  std::vector<Seen> given_;
  std::vector<Finding> findings_;
};

TEST_F(Log, NoJournalsIsNotFound) {
  EXPECT_EQ(
      JobLog::open(posix_file_system(), {{.path = folder_.path()}, {.path = "/no/such/folder"}}, "llama-7b", "", clock_)
          .status()
          .code(),
      StatusCode::kNotFound);
}

TEST_F(Log, AColdPollGivesSealedAndLiveSegmentsInOrder) {
  JournalFixture rank0(folder_.path(), {});
  rank0.define(1, "eval");
  rank0.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 1});
  int64_t boot_ns = kBoot;
  for (int64_t i = 0; i < 6'000; ++i) {
    rank0.append(step(i, boot_ns += 1'000'000));
    if (i % 100 == 99) rank0.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = boot_ns + 5});
    if (i % 3 == 0) rank0.append({.kind = Kind::kDataLoadingStart, .boot_ns = boot_ns + 7, .lane = 1});
  }
  rank0.write();
  ASSERT_GT(rank0.number(), 4u);
  ASSERT_TRUE(rank0.seal(1).ok());
  ASSERT_TRUE(rank0.seal(3).ok());
  open();
  const std::vector<Seen> got = without_heartbeats(poll());
  ASSERT_EQ(got.size(), rank0.all().size());
  EXPECT_EQ(steps(got).size(), 6'000u);
  for (const Seen& event : got) {
    EXPECT_EQ(event.attempt, "77.0");
    EXPECT_EQ(event.name, event.kind == Kind::kCustomStart ? "eval" : "");
  }
  EXPECT_EQ(got.front().time_ns, kWall + 1);
  EXPECT_EQ(got.back().time_ns, kWall + boot_ns + 5 - kBoot);
  EXPECT_TRUE(log_->findings().empty());
}

TEST_F(Log, LivePollsGiveEachEventOnceWhileSegmentsAreSealed) {
  std::mt19937_64 random(3);
  JournalFixture rank0(folder_.path(), {.boot_id = read_boot_id()});
  rank0.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 1});
  rank0.write();
  open();
  uint32_t sealed = 0;
  int resumed = 0;
  int64_t boot_ns = kBoot;
  for (int round = 0; round < 400; ++round) {
    const int64_t events = static_cast<int64_t>(random() % 60);
    for (int64_t i = 0; i < events; ++i) {
      boot_ns += 1'000'000;
      rank0.append(
          {.kind = Kind::kStepStart, .boot_ns = boot_ns, .value = round, .lane = static_cast<uint16_t>(random() % 3)});
      clock_.advance(1'000'000);
    }
    rank0.alive_at(boot_ns);
    rank0.write();
    if (random() % 2 == 0) poll();
    if (random() % 16 == 0) {  // goes on in another process
      const std::vector<std::byte> cursor = log_->cursor();
      const std::vector<Seen> given = given_;
      ASSERT_TRUE(open().resume(cursor).ok());
      given_ = given;
      ++resumed;
    }
    // The newest two stay live, as with the recorder; what was half given out is then given out from the sealed form.
    while (sealed + 2 < rank0.number() && random() % 4 == 0) ASSERT_TRUE(rank0.seal(++sealed).ok());
    if (round % 40 == 0) {
      const std::vector<Seen> so_far = without_heartbeats(given_);
      EXPECT_EQ(without_heartbeats(read(0, std::numeric_limits<int64_t>::max())), so_far);
    }
  }
  poll();
  EXPECT_GT(resumed, 10);
  const std::vector<Seen> all = without_heartbeats(given_);
  ASSERT_EQ(all.size(), rank0.all().size());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].time_ns, rank0.wall_ns(rank0.all()[i].boot_ns));
  EXPECT_EQ(without_heartbeats(read(0, std::numeric_limits<int64_t>::max())), all);
  EXPECT_TRUE(log_->findings().empty());

  open();
  EXPECT_EQ(without_heartbeats(poll()), all);
}

TEST_F(Log, ReadGivesAgainExactlyTheRange) {
  JournalFixture rank0(folder_.path(), {});
  int64_t boot_ns = kBoot;
  for (int64_t i = 0; i < 9'000; ++i) {
    LiveEvent event = step(i, boot_ns += 1'000'000);
    event.lane = static_cast<uint16_t>(i % 2);
    if (i % 500 == 7) {
      event.has_wall_time = true;  // as told by a caller: up to 3 s before it was recorded
      event.wall_ns = rank0.wall_ns(boot_ns) - (i % 3) * kSecond;
    }
    rank0.append(event);
  }
  rank0.write();
  for (uint32_t number = 1; number < rank0.number(); ++number) ASSERT_TRUE(rank0.seal(number).ok());
  open();
  poll();
  const std::vector<Seen> all = without_heartbeats(given_);
  ASSERT_EQ(all.size(), 9'000u);
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    const int64_t from_ns = kWall - kSecond + static_cast<int64_t>(random() % (11 * kSecond));
    const int64_t to_ns = from_ns + static_cast<int64_t>(random() % (3 * kSecond));
    std::vector<Seen> expected;
    for (const Seen& event : all) {
      if (event.time_ns >= from_ns && event.time_ns < to_ns) expected.push_back(event);
    }
    const std::vector<Seen> got = without_heartbeats(read(from_ns, to_ns));
    ASSERT_EQ(got, expected) << from_ns << " " << to_ns;
  }
}

TEST_F(Log, AnEventStillBeingWrittenIsNotGivenYet) {
  JournalFixture rank0(folder_.path(), {.boot_id = read_boot_id()});
  for (int64_t i = 0; i < 10; ++i) rank0.append(step(i, kBoot + i));
  const uint32_t slot = rank0.live().stored()[6].slot;
  std::array<std::byte, kSlotBytes> kept;
  std::byte* at = rank0.live().bytes().data() + size_t{slot} * kSlotBytes;
  std::memcpy(kept.data(), at, kSlotBytes);
  std::memset(at, 0, 8);  // its head is not stored yet, that of the handler that came between is
  rank0.write();
  open();
  EXPECT_THAT(steps(poll()), ElementsAre(0, 1, 2, 3, 4, 5));
  std::memcpy(at, kept.data(), kSlotBytes);
  rank0.write();
  EXPECT_THAT(steps(poll()), ElementsAre(6, 7, 8, 9));
}

TEST_F(Log, ADeadJournalIsTakenToItsEnd) {
  JournalFixture rank0(folder_.path(), {.boot_id = read_boot_id()});
  for (int64_t i = 0; i < 10; ++i) rank0.append(step(i, kBoot + i));
  rank0.live().bytes()[size_t{rank0.live().stored()[6].slot} * kSlotBytes] ^= std::byte{4};
  std::memset(rank0.live().bytes().data() + size_t{rank0.live().stored()[3].slot} * kSlotBytes, 0, 8);
  rank0.write();
  open();
  EXPECT_THAT(steps(poll()), ElementsAre(0, 1, 2));
  clock_.advance(4 * kSecond);
  EXPECT_THAT(steps(poll()), ElementsAre(4, 5, 7, 8, 9));
  ASSERT_NE(finding(finding::kEventsLost), nullptr);
  EXPECT_EQ(finding(finding::kEventsLost)->count, 2u);
  EXPECT_TRUE(poll().empty());
}

TEST_F(Log, AProcessThatWasOnlyStoppedIsTakenUpAgain) {
  JournalFixture rank0(folder_.path(), {.boot_id = read_boot_id()});
  for (int64_t i = 0; i < 5; ++i) rank0.append(step(i, kBoot + i));
  rank0.write();
  open();
  EXPECT_EQ(steps(poll()).size(), 5u);
  clock_.advance(60 * kSecond);
  poll();
  EXPECT_TRUE(poll().empty());
  ASSERT_TRUE(rank0.seal(1).ok());
  EXPECT_TRUE(poll().empty());
  EXPECT_TRUE(poll().empty());
  // It goes on in the mapping of the segment that was sealed, which its keeper writes anew, and in another.
  rank0.append(step(5, kBoot + 60 * kSecond));
  rank0.rotate();
  rank0.append(step(6, kBoot + 61 * kSecond));
  rank0.alive_at(kBoot + 61 * kSecond);
  rank0.write();
  clock_.advance(kSecond);
  EXPECT_THAT(steps(poll()), ElementsAre(5, 6));
  ASSERT_TRUE(rank0.seal(1).ok());
  rank0.append(step(7, kBoot + 61 * kSecond + 5));
  rank0.write();
  EXPECT_THAT(steps(poll()), ElementsAre(7));
  EXPECT_THAT(steps(read(0, std::numeric_limits<int64_t>::max())), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(log_->findings().empty());
}

TEST_F(Log, AnIdThatADeadJournalHeldIsTakenUpWithANumber) {
  JournalFixture first(folder_.path(), {.id = 1});
  first.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 1});
  first.append(step(1, kBoot + kSecond));
  first.write();
  JournalFixture second(folder_.path(),
                        {.open_boot_ns = kBoot + 9 * kSecond, .open_wall_ns = kWall + 9 * kSecond, .id = 2});
  second.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 9 * kSecond});
  second.append(step(2, kBoot + 10 * kSecond));
  second.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 20 * kSecond});  // again in the same process
  second.append(step(2, kBoot + 21 * kSecond));
  second.write();
  open();
  std::vector<std::string> attempts;
  for (const Seen& event : without_heartbeats(poll())) attempts.push_back(event.attempt);
  EXPECT_THAT(attempts, ElementsAre("77.0", "77.0", "77.0#2", "77.0#2", "77.0#3", "77.0#3"));
  EXPECT_TRUE(log_->findings().empty());
}

TEST_F(Log, ASecondWriterBesideALivingOneIsLeftOut) {
  const std::string boot_id = read_boot_id();
  JournalFixture clock(folder_.path(), {.boot_id = boot_id, .pid = 1, .id = 1});
  clock.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 1});
  clock.alive_at(kBoot + 1);
  clock.write();
  JournalFixture other(
      folder_.path(),
      {.host = "node-4", .boot_id = boot_id, .pid = 2, .open_boot_ns = kBoot + 2, .open_wall_ns = kWall + 2, .id = 2});
  other.append(step(7, kBoot + 3));
  other.alive_at(kBoot + 3);
  other.write();
  open();
  // Whether the first one lives is not known yet: its last sign is older than the second one's start.
  EXPECT_EQ(without_heartbeats(poll()).size(), 1u);
  EXPECT_EQ(finding(finding::kTwoWriters), nullptr);
  clock_.advance(kSecond);
  clock.alive_at(kBoot + kSecond);
  clock.write();
  EXPECT_TRUE(without_heartbeats(poll()).empty());
  ASSERT_NE(finding(finding::kTwoWriters), nullptr);
  EXPECT_EQ(finding(finding::kTwoWriters)->detail, "process 2 on node-4 beside process 1 on node-3");
}

TEST_F(Log, OfOtherRanksOnlyCheckpointStatisticsAreGiven) {
  JournalFixture rank0(folder_.path(), {.attempt_id = "9", .id = 1});
  rank0.append(step(1, kBoot + 2));
  rank0.write();
  JournalFixture rank3(folder_.path(), {.attempt_id = "9", .process_index = 3, .id = 2});
  rank3.define(1, "gs://ckpt");
  rank3.append(step(1, kBoot + 2));
  rank3.append({.kind = Kind::kCheckpointSave,
                .flags = event::kHasStep,
                .name = 1,
                .boot_ns = kBoot + 3,
                .value = 1,
                .has_wall_time = true,
                .wall_ns = kWall - 5,
                .duration_ns = 4});
  rank3.write();
  ASSERT_TRUE(rank3.seal(1).ok());
  JournalFixture stray(folder_.path(), {.attempt_id = "10", .process_index = 4, .id = 3});
  stray.append({.kind = Kind::kCheckpointSave, .boot_ns = kBoot + 3, .duration_ns = 4});
  stray.write();
  open();
  const std::vector<Seen> got = without_heartbeats(poll());
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0], (Seen{kWall - 5, got[0].position, Kind::kCheckpointSave, 1, "", "9", 3}));
  EXPECT_EQ(got[0].position.major, static_cast<uint64_t>(kWall + 3 - 0));
  EXPECT_EQ(got[1].process_index, 0);
  ASSERT_NE(finding(finding::kOrphanRank), nullptr);
  EXPECT_EQ(finding(finding::kOrphanRank)->detail, "process index 4");
}

TEST_F(Log, ALauncherIsOfTheAttemptThatItSpeaksOf) {
  JournalFixture launcher(folder_.path(), {.attempt_id = "", .role = "launcher", .id = 9});
  launcher.append({.kind = Kind::kDisruption, .boot_ns = kBoot + 1});
  launcher.append({.kind = Kind::kProcessExit, .flags = event::kCode, .boot_ns = kBoot + 10 * kSecond, .value = 1});
  launcher.append({.kind = Kind::kProcessExit, .flags = event::kCode, .boot_ns = kBoot + 30 * kSecond, .value = 0});
  launcher.write();
  for (const uint8_t n : {uint8_t{1}, uint8_t{2}}) {
    const int64_t opened = (n == 1 ? 2 : 12) * kSecond;
    JournalFixture rank0(
        folder_.path(),
        {.attempt_id = n == 1 ? "a" : "b", .open_boot_ns = kBoot + opened, .open_wall_ns = kWall + opened, .id = n});
    rank0.append(step(n, kBoot + opened + 1));
    rank0.write();
  }
  open();
  std::vector<std::string> exits;
  for (const Seen& event : poll()) {
    if (event.kind == Kind::kProcessExit) exits.push_back(event.attempt);
  }
  EXPECT_THAT(exits, ElementsAre("a", "b"));
}

TEST_F(Log, ALauncherAroundALauncherIsOfTheAttemptsThatItStarted) {
  struct Launch {
    const char* id;
    const char* rank0;
  };
  uint8_t id = 1;
  for (const Launch& launch : {Launch{"7", "7.none.0"}, Launch{"77", "77.none.0"}, Launch{"8", "9"}}) {
    const int64_t opened = id * 10 * kSecond;
    JournalFixture rank0(
        folder_.path(),
        {.attempt_id = launch.rank0, .open_boot_ns = kBoot + opened, .open_wall_ns = kWall + opened, .id = id++});
    rank0.append(step(1, kBoot + opened + 1));
    rank0.write();
    JournalFixture launcher(folder_.path(), {.attempt_id = launch.id, .role = "launcher", .id = id++});
    launcher.append(
        {.kind = Kind::kProcessExit, .flags = event::kCode, .boot_ns = kBoot + opened + kSecond, .value = 1});
    launcher.write();
  }
  open();
  std::vector<std::string> exits;
  for (const Seen& event : poll()) {
    if (event.kind == Kind::kProcessExit) exits.push_back(event.attempt);
  }
  EXPECT_THAT(exits, ElementsAre("7.none.0", "77.none.0", "8"));
}

TEST_F(Log, AStepOfTheWallClockMovesNothing) {
  JournalFixture first(folder_.path(), {.attempt_id = "a", .id = 1});
  first.append(step(1, kBoot + kSecond));
  first.write();
  // An hour back between the two attempts.
  JournalFixture second(
      folder_.path(),
      {.attempt_id = "b", .open_boot_ns = kBoot + 60 * kSecond, .open_wall_ns = kWall - 3'540 * kSecond, .id = 2});
  second.append(step(2, kBoot + 61 * kSecond));
  second.live().put_clock_slot(
      2, make_clock_step(second.live().live_header().seed(), 2, {kBoot + 62 * kSecond, kWall}, 5 * kSecond));
  second.write();
  open();
  const std::vector<Seen> got = without_heartbeats(poll());
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1].time_ns - got[0].time_ns, 60 * kSecond);
  ASSERT_NE(finding(finding::kWallClockStep), nullptr);
  EXPECT_EQ(finding(finding::kWallClockStep)->count, 2u);
  EXPECT_DOUBLE_EQ(finding(finding::kWallClockStep)->seconds, 3'605.0);
  EXPECT_EQ(finding(finding::kWallClockStep)->first_ns, kWall + 60 * kSecond);
}

TEST_F(Log, TheLastSignOfLifeIsAHeartbeat) {
  JournalFixture rank0(folder_.path(), {.boot_id = read_boot_id()});
  rank0.append(step(1, kBoot + 1));
  rank0.write();
  open();
  const std::vector<Seen> first = poll();
  EXPECT_EQ(first.front(), (Seen{kWall, first.front().position, Kind::kHeartbeat, 0, "", "77.0", 0}));
  for (int64_t second = 1; second < 5; ++second) {
    clock_.advance(kSecond);
    rank0.alive_at(kBoot + second * kSecond);
    rank0.write();
    const std::vector<Seen> got = poll();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].time_ns, kWall + second * kSecond);
  }
  const std::vector<Seen> again = read(0, std::numeric_limits<int64_t>::max());
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].kind, Kind::kHeartbeat);
  EXPECT_EQ(again[1].time_ns, kWall + 4 * kSecond);
}

TEST_F(Log, AResumedCursorKnowsAllThatTheFirstKnew) {
  JournalFixture first(folder_.path(), {.attempt_id = "a", .id = 1});
  first.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 1});
  first.append({.kind = Kind::kJobStart, .boot_ns = kBoot + 5 * kSecond});
  first.live().put_counter(Counter::kNoSpace, 3);
  first.alive_at(kBoot + 6 * kSecond);
  first.write();
  JournalFixture second(folder_.path(),
                        {.attempt_id = "a", .open_boot_ns = kBoot + 60 * kSecond, .open_wall_ns = kWall, .id = 2});
  second.append(step(2, kBoot + 61 * kSecond));
  second.write();
  open();
  poll();
  const std::vector<std::byte> cursor = log_->cursor();
  const std::vector<Seen> everything = read(0, std::numeric_limits<int64_t>::max());
  const std::vector<Finding> findings = log_->findings();
  ASSERT_TRUE(open().resume(cursor).ok());
  EXPECT_EQ(read(0, std::numeric_limits<int64_t>::max()), everything);
  EXPECT_EQ(everything.size(), 6u);  // three events, three attempts
  EXPECT_EQ(log_->findings().size(), findings.size());
  EXPECT_TRUE(poll().empty());
  EXPECT_EQ(log_->cursor(), cursor);
  for (size_t i = 0; i < cursor.size(); ++i) {
    std::vector<std::byte> damaged = cursor;
    damaged[i] ^= std::byte{1};
    EXPECT_EQ(open().resume(damaged).code(), StatusCode::kUnsupported) << i;
  }
}

TEST_F(Log, ADamagedBlockIsALossAndTheRestIsRead) {
  JournalFixture rank0(folder_.path(), {.segment_bytes = kMaxSegmentBytes});
  std::mt19937_64 random(1);
  int64_t boot_ns = kBoot;
  for (int64_t i = 0; i < 20'000; ++i)
    rank0.append(step(i, boot_ns += 350'000'000 + static_cast<int64_t>(random() % 10'000'000)));
  rank0.rotate();
  rank0.write();
  ASSERT_TRUE(rank0.seal(1).ok());
  const std::string path = rank0.path() + "/" + segment_name(1, SegmentForm::kSealed);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
  file.put('\x7f');
  file.close();
  open();
  const std::vector<Seen> got = without_heartbeats(poll());
  ASSERT_NE(finding(finding::kEventsLost), nullptr);
  EXPECT_EQ(got.size() + finding(finding::kEventsLost)->count, 20'000u);
  EXPECT_GT(got.size(), 18'000u);
  EXPECT_EQ(without_heartbeats(read(0, std::numeric_limits<int64_t>::max())), got);
}

// On tmpfs nearly every listing misses a name while files are renamed, on ext4 one in twelve.
TEST_F(Log, AFolderOfThreeThousandFilesIsReadWholeWhileTheyAreSealed) {
  const TemporaryFolder memory("/dev/shm");
  constexpr uint32_t kSegments = 3'000;
  JournalFixture rank0(memory.path(), {.segment_bytes = 5 * kPageBytes});
  for (uint32_t i = 1; i <= kSegments; ++i) {
    rank0.append(step(i, kBoot + 2 * i));
    rank0.append(step(i, kBoot + 2 * i + 1));
    rank0.rotate();
  }
  std::atomic<bool> is_over = false;
  std::thread sealer([&] {
    for (uint32_t i = 1; i <= kSegments; ++i) EXPECT_TRUE(rank0.seal(i).ok());
    is_over = true;
  });
  int rounds = 0;
  for (bool was_over = false; !was_over; ++rounds) {
    was_over = is_over;
    log_ = std::move(JobLog::open(posix_file_system(), {{.path = memory.path()}}, "llama-7b", "", clock_)).value();
    const std::vector<Seen> got = without_heartbeats(poll());
    EXPECT_EQ(got.size(), 2 * kSegments);
    EXPECT_TRUE(log_->findings().empty());
    EXPECT_EQ(without_heartbeats(read(0, std::numeric_limits<int64_t>::max())).size(), 2 * kSegments);
  }
  sealer.join();
  EXPECT_GE(rounds, 2);
}

TEST_F(Log, ANewerVersionIsRefusedByNameAndTheRestIsRead) {
  JournalFixture newer(folder_.path(), {.attempt_id = "new", .id = 2});
  for (const size_t page : {size_t{0}, size_t{newer.live().layout().mirror_page_offset}}) {
    set_header_version(std::span(newer.live().bytes()).subspan(page), 2);
  }
  newer.write();
  JournalFixture rank0(folder_.path(), {});
  rank0.append(step(1, kBoot + 1));
  rank0.write();
  open();
  EXPECT_THAT(steps(poll()), ElementsAre(1));
  ASSERT_NE(finding(finding::kNewerVersion), nullptr);
  EXPECT_THAT(finding(finding::kNewerVersion)->detail, testing::HasSubstr("version 2"));
}

}  // namespace
}  // namespace goodput::journal
