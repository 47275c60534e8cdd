// A recording process is killed at random moments: no event whose call had returned is lost, and none is invented.
//
// The victim counts what it has recorded in memory that outlives it, after each call. GOODPUT_SOAK=1 kills 10,000
// times. SPDX-License-Identifier: Apache-2.0
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "base/temporary_folder.h"
#include "record/read_journals.h"

namespace goodput::record {
namespace {

constexpr int kMaxThreads = 4;

bool is_soak() {
  const char* soak = std::getenv("GOODPUT_SOAK");
  return soak != nullptr && *soak == '1';
}

/// Shared between the victim and the test.
struct Acknowledged {
  std::atomic<int64_t> recorded[kMaxThreads];  ///< calls that have returned, by thread
};

/// What the n-th event of a thread is: mostly steps; a custom event with one of many names; a step with its work.
enum class Shape { kStep, kCustom, kWork };
Shape shape_of(int64_t n) { return n % 40 == 7 ? Shape::kCustom : n % 40 == 9 ? Shape::kWork : Shape::kStep; }
constexpr int64_t kThreadUnit = int64_t{1} << 40;
std::string name_of(int thread, int64_t n) { return "eval " + std::to_string(thread) + " " + std::to_string(n); }

void record_one(Recorder& recorder, int thread, int64_t n) {
  const int64_t step = thread * kThreadUnit + n;
  switch (shape_of(n)) {
    case Shape::kStep:
      return recorder.step(step);
    case Shape::kCustom:
      return recorder.begin(Event::kCustom, {.name = name_of(thread, n)});
    case Shape::kWork:
      return recorder.step(step, {.tokens = static_cast<double>(n)});
  }
}

struct Victim {
  int threads = 1;
  int64_t events_per_recorder = 0;  ///< 0: one recorder for ever; else it is closed and another opened after so many
  std::string directory;
};

[[noreturn]] void run_victim(const Victim& victim, Acknowledged& acknowledged) {
  int64_t next = 0;
  for (;;) {
    Recorder recorder = Recorder::open({.job = "victim", .directory = victim.directory});
    const int64_t end = victim.events_per_recorder == 0 ? kThreadUnit : next + victim.events_per_recorder;
    const auto record = [&](int thread) {
      for (int64_t n = next; n < end; ++n) {
        record_one(recorder, thread, n);
        acknowledged.recorded[thread].store(n + 1, std::memory_order_release);
      }
    };
    std::vector<std::thread> others;
    for (int thread = 1; thread < victim.threads; ++thread) others.emplace_back(record, thread);
    record(0);
    for (std::thread& other : others) other.join();
    next = end;
  }
}

class KillTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("GOODPUT_QUIET", "1", 1);
    void* page = mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    acknowledged_ = new (page) Acknowledged;
  }
  void TearDown() override { munmap(acknowledged_, sizeof(Acknowledged)); }

  /// Starts a victim and kills it somewhere within the first `within_us`.
  void kill_one(const Victim& victim, int within_us) {
    for (auto& recorded : acknowledged_->recorded) recorded = 0;
    std::error_code ignored;
    std::filesystem::remove_all(victim.directory, ignored);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_victim(victim, *acknowledged_);
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<int>(0, within_us)(random_)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the victim ended by itself: " << status;
    verify(victim);
  }

  void verify(const Victim& victim) {
    std::vector<int64_t> found[kMaxThreads];
    for (const WrittenJournal& journal : read_journals(victim.directory)) {
      for (const WrittenEvent& written : journal.events) add(written, found);
      ASSERT_EQ(journal.counters.lost_events(), 0U);
      // What was being written when it died is stated as missing, at most once per thread; nothing else is.
      for (const journal::Loss& loss : journal.losses) {
        EXPECT_EQ(loss.reason, journal::LossReason::kMissingNumber);
        EXPECT_LE(loss.events, static_cast<uint64_t>(victim.threads));
      }
    }
    for (int thread = 0; thread < victim.threads; ++thread) {
      std::vector<int64_t>& numbers = found[thread];
      std::sort(numbers.begin(), numbers.end());
      const auto acknowledged = static_cast<size_t>(acknowledged_->recorded[thread].load());
      ASSERT_GE(numbers.size(), acknowledged) << "lost, of thread " << thread;
      ASSERT_LE(numbers.size(), acknowledged + 1) << "invented, of thread " << thread;
      for (size_t n = 0; n < numbers.size(); ++n) ASSERT_EQ(numbers[n], static_cast<int64_t>(n));
      events_ += numbers.size();
    }
  }

  /// The number of an event within its thread; anything that the victim does not write is a failure.
  static void add(const WrittenEvent& written, std::vector<int64_t> (&found)[kMaxThreads]) {
    const journal::LiveEvent& event = written.event;
    if (event.kind == event::Kind::kCustomStart) {
      int thread = 0;
      long long n = 0;
      ASSERT_EQ(std::sscanf(written.name.c_str(), "eval %d %lld", &thread, &n), 2) << written.name;
      ASSERT_EQ(written.name, name_of(thread, n));
      ASSERT_EQ(shape_of(n), Shape::kCustom);
      found[thread].push_back(n);
      return;
    }
    ASSERT_EQ(event.kind, event::Kind::kStepStart);
    const auto thread = static_cast<int>(event.value / kThreadUnit);
    const int64_t n = event.value % kThreadUnit;
    ASSERT_LT(thread, kMaxThreads);
    ASSERT_EQ(shape_of(n), event.has_work() ? Shape::kWork : Shape::kStep);
    if (event.has_work()) {
      ASSERT_EQ(event.tokens, static_cast<double>(n));
    }
    found[thread].push_back(n);
  }

  void kill_many(const Victim& victim, int within_us, int kills) {
    for (int i = 0; i < (is_soak() ? 5 * kills : kills) && !HasFatalFailure(); ++i) kill_one(victim, within_us);
    RecordProperty("events", std::to_string(events_));
    std::printf("%llu events\n", static_cast<unsigned long long>(events_));
  }

  const TemporaryFolder memory_{"/dev/shm"};
  const TemporaryFolder disk_;
  Acknowledged* acknowledged_ = nullptr;
  std::mt19937 random_{20'260'101};
  uint64_t events_ = 0;
};

// 2,000 kills altogether. The first milliseconds hold the start and the growing segments; a 64 KiB segment is full
// after 60 us at full speed.
TEST_F(KillTest, OneThreadLosesNothing) {
  kill_many({.threads = 1, .directory = memory_.path() + "/r"}, 1'500, 500);
  kill_many({.threads = 1, .directory = disk_.path() + "/r"}, 3'000, 250);
}

TEST_F(KillTest, FourThreadsLoseNothing) {
  kill_many({.threads = 4, .directory = memory_.path() + "/r"}, 1'500, 500);
  kill_many({.threads = 4, .directory = disk_.path() + "/r"}, 3'000, 250);
}

TEST_F(KillTest, NothingIsLostWhileJournalsOpenAndClose) {
  kill_many({.threads = 1, .events_per_recorder = 300, .directory = memory_.path() + "/r"}, 4'000, 250);
  kill_many({.threads = 2, .events_per_recorder = 5'000, .directory = disk_.path() + "/r"}, 10'000, 250);
}

}  // namespace
}  // namespace goodput::record
