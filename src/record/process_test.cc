// Forks, signal handlers, exits: what happens to a process around its recorder.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "base/temporary_folder.h"
#include "journal/folder_names.h"
#include "record/lane.h"
#include "record/read_journals.h"

#ifdef GOODPUT_TSAN
// Children of a threaded process start threads here: that is what is tested.
extern "C" const char* __tsan_default_options();  // NOLINT: the sanitizer's own name
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace goodput::record {
namespace {

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override { setenv("GOODPUT_QUIET", "1", 1); }

  Recorder open(int64_t process_index = 0) {
    return Recorder::open({.job = "j", .process_index = process_index, .directory = folder_.path()});
  }
  [[nodiscard]] std::vector<WrittenJournal> read() const { return read_journals(folder_.path()); }

  /// Runs `body` in a forked child to its end.
  template <typename Body>
  static void in_child(Body body) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      body();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  /// Whether another process could take the journal's lock: what a sealer asks.
  static bool is_locked(const std::string& journal_folder) {
    bool locked = false;
    const pid_t child = fork();
    if (child == 0) {
      const int fd = ::open((journal_folder + "/" + journal::kLockFile).c_str(), O_RDWR);
      struct flock whole {};
      whole.l_type = F_WRLCK;
      _exit(fcntl(fd, F_SETLK, &whole) == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    locked = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    return locked;
  }

  const TemporaryFolder folder_;
};

TEST_F(ProcessTest, ForkedChildRecordsNothingAndItsParentGoesOn) {
  auto recorder = open();
  recorder.step(1);
  in_child([&] {
    for (int64_t step = 1000; step < 2000; ++step) {
      recorder.step(step);
      recorder.custom("in the child").end();
      recorder.disruption("oom", "in the child");
    }
    recorder.close();
  });
  recorder.step(2);
  recorder.close();
  const std::vector<WrittenJournal> journals = read();
  ASSERT_EQ(journals.size(), 1U);
  EXPECT_EQ(journals[0].steps(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(journals[0].events.size(), 2U);
  EXPECT_EQ(journals[0].counters.lost_events(), 0U);
}

TEST_F(ProcessTest, ChildOfARawCloneRecordsNothing) {
  auto recorder = open();
  recorder.step(1);
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) {
    recorder.step(1000);
    recorder.custom("in the child").end();
    syscall(SYS_exit_group, 0);
  }
  ASSERT_EQ(waitpid(static_cast<pid_t>(child), nullptr, 0), child);
  EXPECT_EQ(read().at(0).events.size(), 1U);
}

TEST_F(ProcessTest, ChildOpensARecorderOfItsOwn) {
  auto recorder = open();
  std::atomic<bool> stop{false};
  std::thread other([&] {  // alive at the fork
    for (int64_t step = 0; !stop; ++step) {
      recorder.step(step);
      std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  });
  for (int round = 0; round < 20; ++round) {
    in_child([&] {
      auto own = open();  // the same job and index: still not its parent's
      for (int64_t step = 0; step < 300; ++step) own.step(step);
      own.close();
    });
  }
  stop = true;
  other.join();
  recorder.close();
  const std::vector<WrittenJournal> journals = read();
  ASSERT_EQ(journals.size(), 21U);
  for (size_t i = 1; i < journals.size(); ++i) EXPECT_EQ(journals[i].steps().size(), 300U);
  for (const WrittenJournal& journal : journals) EXPECT_TRUE(journal.losses.empty());
}

TEST_F(ProcessTest, KilledOwnerIsKnownToBeDeadWhileItsWorkerLives) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t owner = fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    auto recorder = open();
    recorder.step(1);
    const pid_t worker = fork();
    if (worker == 0) {
      while (true) pause();
    }
    CHECK(write(ready[1], &worker, sizeof(worker)) == sizeof(worker));
    while (true) pause();
  }
  pid_t worker = 0;
  ASSERT_EQ(::read(ready[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
  const std::string journal_folder = read().at(0).folder;
  EXPECT_TRUE(is_locked(journal_folder));
  kill(owner, SIGKILL);
  ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
  EXPECT_EQ(kill(worker, 0), 0) << "the worker is alive";
  EXPECT_FALSE(is_locked(journal_folder));
  kill(worker, SIGKILL);
}

// Signal handlers that record, on top of everything that a recording thread does: taking slots, runs and segments,
// making names known.
std::atomic<Recorder*> handled_recorder;
std::atomic<int64_t> handled_count;
constexpr int64_t kHandlerUnit = int64_t{1} << 40;

void record_in_handler(int) {
  Recorder* recorder = handled_recorder.load();
  const int64_t n = handled_count.fetch_add(1);
  if (n % 3 == 0) {
    recorder->begin(Event::kCustom, {.name = "in a handler"});
  } else {
    recorder->step(kHandlerUnit + n);
  }
}

TEST_F(ProcessTest, SignalHandlersLoseNothing) {
  auto recorder = open();
  handled_recorder = &recorder;
  handled_count = 0;
  struct sigaction action {};
  action.sa_handler = record_in_handler;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{.it_interval = {0, 20}, .it_value = {0, 20}};  // the keeper's threads block it: it comes here
  setitimer(ITIMER_REAL, &often, nullptr);
  int64_t steps = 0;
  for (; steps < 100'000 || handled_count < 3'000; ++steps) {
    recorder.step(steps);
    if (steps % 100 == 0) recorder.begin(Event::kCustom, {.name = "outside"});
    if (steps % 70 == 0) recorder.step(steps, {.tokens = 1});
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  signal(SIGALRM, SIG_DFL);
  EXPECT_EQ(recorder.counts().lost_events, 0U);
  recorder.close();
  const WrittenJournal journal = read().at(0);
  std::vector<int64_t> outside;
  std::vector<int64_t> inside;
  for (const int64_t step : journal.steps()) (step < kHandlerUnit ? outside : inside).push_back(step);
  EXPECT_EQ(outside.size(), static_cast<size_t>(steps + (steps + 69) / 70));
  const int64_t handled = handled_count.load();
  EXPECT_EQ(inside.size(), static_cast<size_t>(handled - (handled + 2) / 3));
  EXPECT_EQ(journal.count(event::Kind::kCustomStart), static_cast<size_t>((steps + 99) / 100 + (handled + 2) / 3));
  EXPECT_TRUE(journal.losses.empty());
}

std::array<Recorder, 5>* handled_recorders = nullptr;
std::array<std::atomic<int64_t>, 5> handled_counts{};

/// With the first and the last of them in turn, which want the same seat of the thread.
void record_with_both(int) {
  static std::atomic<int64_t> calls = 0;
  const size_t i = calls.fetch_add(1) % 2 == 0 ? 0 : 4;
  (*handled_recorders)[i].step(kHandlerUnit + handled_counts[i].fetch_add(1));
}

TEST_F(ProcessTest, SignalHandlersLoseNothingWhileRecordersWantOneSeat) {
  std::array<Recorder, 5> recorders;
  for (size_t i = 0; i < recorders.size(); ++i) recorders[i] = open(static_cast<int64_t>(i));
  handled_recorders = &recorders;
  struct sigaction action {};
  action.sa_handler = record_with_both;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{.it_interval = {0, 20}, .it_value = {0, 20}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int64_t steps = 0;
  for (; steps < 20'000 || handled_counts[0] < 1'000; ++steps) {
    recorders[0].step(steps);
    recorders[4].step(steps);
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  signal(SIGALRM, SIG_DFL);
  for (Recorder& recorder : recorders) {
    EXPECT_EQ(recorder.counts().lost_events, 0U);
    recorder.close();
  }
  for (const WrittenJournal& journal : read()) {
    const auto i = static_cast<size_t>(journal.header.process_index);
    if (i != 0 && i != 4) continue;
    EXPECT_EQ(journal.steps().size(), static_cast<size_t>(steps + handled_counts[i]));
    EXPECT_TRUE(journal.losses.empty());
  }
}

TEST_F(ProcessTest, RecordingInAtexitIsKept) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static auto* recorder = new Recorder(open());  // never destroyed, as the binding's is at interpreter exit
    std::atexit([] { recorder->step(99); });
    recorder->step(1);
    std::exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(read().at(0).steps(), (std::vector<int64_t>{1, 99}));
}

TEST_F(ProcessTest, RecorderOfStaticLifetimeClosesAtExit) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static Recorder recorder = open();
    std::atexit([] { recorder.step(99); });  // before the destructor
    recorder.step(1);
    std::exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(read().at(0).steps(), (std::vector<int64_t>{1, 99}));
}

TEST_F(ProcessTest, ErrnoIsTheCallers) {
  auto recorder = open();
  for (int64_t step = 0; step < 5000; ++step) {
    errno = ENOENT;
    recorder.step(step);
    ASSERT_EQ(errno, ENOENT);
  }
}

}  // namespace
}  // namespace goodput::record
