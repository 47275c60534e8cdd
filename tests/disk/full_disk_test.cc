// The disk fills up at random moments, is read-only, or a file may not grow: training goes on, every loss is counted,
// and recording resumes. GOODPUT_SOAK=1 fills 200 disks instead of 50. SPDX-License-Identifier: Apache-2.0
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <thread>

#include "record/read_journals.h"
#include "small_disk.h"

namespace goodput::record {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr size_t kDiskBytes = size_t{4} * 1024 * 1024;

bool is_soak() {
  const char* soak = std::getenv("GOODPUT_SOAK");
  return soak != nullptr && *soak == '1';
}

/// A training loop that records a step every 20 us, and says how many.
class Trainer {
 public:
  explicit Trainer(const std::string& directory)
      : recorder_(Recorder::open({.job = "full", .directory = directory, .sync_interval_seconds = 0.05})) {}

  void train_for(microseconds duration) {
    train_until([end = Clock::now() + duration] { return Clock::now() >= end; }, duration + milliseconds(500));
  }
  /// False when it does not come true in time.
  template <typename Condition>
  bool train_until(Condition condition, microseconds patience) {
    const auto end = Clock::now() + patience;
    while (!condition()) {
      if (Clock::now() > end) return false;
      recorder_.step(recorded_++);
      std::this_thread::sleep_for(microseconds(20));
    }
    return true;
  }
  [[nodiscard]] uint64_t lost() const { return recorder_.counts().lost_events; }
  [[nodiscard]] bool is_recording() const { return recorder_.is_recording(); }
  [[nodiscard]] int64_t recorded() const { return recorded_; }
  void close() { recorder_.close(); }

 private:
  Recorder recorder_;
  int64_t recorded_ = 0;
};

/// What a trial found wrong, as the exit code of its process.
enum Outcome { kGood = 0, kNothingLost, kNotResumed, kCountWrong, kFileCountWrong, kLateStepMissing, kNoMount };

/// Fills the disk after `after`, waits until events are lost, makes space, and expects recording to resume within a
/// second.
Outcome fill_once(microseconds after) {
  SmallDisk disk(kDiskBytes);
  if (!disk.is_mounted()) return kNoMount;
  Trainer trainer(disk.path() + "/r");
  trainer.train_for(after);
  disk.fill();
  // What was prepared lasts for a while.
  if (!trainer.train_until([&] { return trainer.lost() > 0; }, std::chrono::seconds(10))) return kNothingLost;
  trainer.train_for(milliseconds(20));
  disk.empty();
  const auto space = Clock::now();
  if (!trainer.train_until([&] { return trainer.is_recording(); }, std::chrono::seconds(5))) return kNotResumed;
  const bool in_time = Clock::now() - space < milliseconds(1'500);  // a second, and what a loaded machine adds
  const int64_t late = trainer.recorded();
  trainer.train_for(milliseconds(5));
  const uint64_t lost = trainer.lost();
  trainer.close();
  const WrittenJournal journal = read_journals(disk.path() + "/r").at(0);
  const std::vector<int64_t> steps = journal.steps();
  if (static_cast<int64_t>(steps.size() + lost) != trainer.recorded()) return kCountWrong;
  if (journal.counters.lost_events() != lost) return kFileCountWrong;
  if (steps.empty() || steps.back() < late) return kLateStepMissing;
  return in_time ? kGood : kNotResumed;
}

/// In a process of its own: a signal is its end.
template <typename Body>
pid_t start(Body body) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    setenv("GOODPUT_QUIET", "1", 1);
    _exit(body());
  }
  return child;
}

TEST(FullDiskTest, NoSignalExactCountsAndRecordingResumes) {
  const int trials = is_soak() ? 200 : 50;
  constexpr int kAtOnce = 10;
  std::mt19937 random(20'260'102);
  for (int done = 0; done < trials; done += kAtOnce) {
    std::vector<pid_t> children;
    for (int i = 0; i < kAtOnce; ++i) {
      const microseconds after(std::uniform_int_distribution<int>(0, 150'000)(random));
      children.push_back(start([after] { return fill_once(after); }));
    }
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
      if (WEXITSTATUS(status) == kNoMount) GTEST_SKIP() << "mounting a file system takes root";
      EXPECT_EQ(WEXITSTATUS(status), kGood);
    }
  }
}

TEST(FullDiskTest, FullFromTheStart) {
  SmallDisk disk(kDiskBytes);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting a file system takes root";
  setenv("GOODPUT_QUIET", "1", 1);
  disk.fill();
  Trainer trainer(disk.path() + "/r");
  trainer.train_for(milliseconds(20));
  EXPECT_EQ(trainer.lost(), static_cast<uint64_t>(trainer.recorded()));
  disk.empty();
  ASSERT_TRUE(trainer.train_until([&] { return trainer.is_recording(); }, std::chrono::seconds(5)));
  trainer.train_for(milliseconds(5));
  const uint64_t lost = trainer.lost();
  trainer.close();
  const WrittenJournal journal = read_journals(disk.path() + "/r").at(0);
  EXPECT_EQ(static_cast<int64_t>(journal.steps().size() + lost), trainer.recorded());
  EXPECT_EQ(journal.counters.lost_events(), lost);
}

TEST(FullDiskTest, ReadOnlyFileSystem) {
  SmallDisk disk(kDiskBytes);
  if (!disk.is_mounted() || !disk.remount(MS_RDONLY)) GTEST_SKIP() << "mounting a file system takes root";
  setenv("GOODPUT_QUIET", "1", 1);
  Trainer trainer(disk.path() + "/r");
  trainer.train_for(milliseconds(20));
  EXPECT_EQ(trainer.lost(), static_cast<uint64_t>(trainer.recorded()));
  ASSERT_TRUE(disk.remount(0));
  ASSERT_TRUE(trainer.train_until([&] { return trainer.is_recording(); }, std::chrono::seconds(5)));
  trainer.train_for(milliseconds(5));
  const uint64_t lost = trainer.lost();
  trainer.close();
  const WrittenJournal journal = read_journals(disk.path() + "/r").at(0);
  EXPECT_EQ(static_cast<int64_t>(journal.steps().size() + lost), trainer.recorded());
  EXPECT_EQ(journal.counters[journal::Counter::kNoAccess], lost);
}

TEST(FullDiskTest, FileSizeLimitIsNoSignal) {
  const pid_t child = start([] {
    const TemporaryFolder folder;
    rlimit limit{.rlim_cur = rlim_t{80} * 1024,
                 .rlim_max = RLIM_INFINITY};  // the first two segments fit, the third does not
    setrlimit(RLIMIT_FSIZE, &limit);
    Trainer trainer(folder.path() + "/r");
    if (!trainer.train_until([&] { return trainer.lost() > 0; }, std::chrono::seconds(10))) return kNothingLost;
    trainer.train_for(milliseconds(700));  // the keeper tries again, too
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (!trainer.train_until([&] { return trainer.is_recording(); }, std::chrono::seconds(5))) return kNotResumed;
    trainer.train_for(milliseconds(5));
    const uint64_t lost = trainer.lost();
    trainer.close();
    const WrittenJournal journal = read_journals(folder.path() + "/r").at(0);
    if (static_cast<int64_t>(journal.steps().size() + lost) != trainer.recorded()) return kCountWrong;
    return journal.counters[journal::Counter::kNoSpace] == lost ? kGood : kFileCountWrong;
  });
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kGood);
}

}  // namespace
}  // namespace goodput::record
