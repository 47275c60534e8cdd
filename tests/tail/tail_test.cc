// Readers that follow a recorder while its threads write, its segments rotate and are sealed.
// SPDX-License-Identifier: Apache-2.0
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/temporary_folder.h"
#include "journal/job_log.h"
#include "record/lane.h"

namespace goodput {
namespace {

constexpr int kWriters = 4;
constexpr int kReaders = 8;

bool is_soak() { return std::getenv("GOODPUT_SOAK") != nullptr; }

/// 50,000 of each thread: some 10 segments. The long variant runs for a minute, at a pace at which one thread of a busy
/// machine can seal what is recorded: beyond some two million events that wait, a recorder drops and counts. Under
/// ThreadSanitizer readers are fifty times slower, fall behind, and what each then takes in at once costs five times
/// the memory: there it is a tenth.
#ifdef GOODPUT_TSAN
constexpr int64_t kSoakSteps = 500'000;
#else
constexpr int64_t kSoakSteps = 5'000'000;
#endif
int64_t steps_per_writer() { return is_soak() ? kSoakSteps : 50'000; }
useconds_t pause_us() { return is_soak() ? 5'000 : 200; }

/// Step numbers that say whose they are.
int64_t step_of(int writer, int64_t i) { return writer * 1'000'000'000LL + i; }

[[noreturn]] void record_in_child(const std::string& folder) {
  setenv("GOODPUT_QUIET", "1", 1);
  {
    Recorder recorder = Recorder::open({.job = "tail", .attempt_id = "1", .directory = folder});
    recorder.begin(Event::kJob);
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&recorder, writer] {
        for (int64_t i = 0; i < steps_per_writer(); ++i) {
          recorder.step(step_of(writer, i));
          if (i % 1'000 == 0) recorder.begin(Event::kCustom, {.name = "eval"});
          if (i % 500 == 0) usleep(pause_us());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    recorder.close();
  }
  _exit(0);
}

/// What one reader saw: of each writer how many steps, all of them in order.
struct Reader {
  std::array<int64_t, kWriters> steps{};
  size_t events = 0;
  size_t custom = 0;
  bool is_in_order = true;

  void take(std::span<const event::Event> events_given) {
    events += events_given.size();
    for (const event::Event& event : events_given) {
      if (event.kind == event::Kind::kCustomStart) custom += event.name == "eval" ? 1 : 0;
      if (event.kind != event::Kind::kStepStart) continue;
      const auto writer = static_cast<size_t>(event.step / 1'000'000'000);
      is_in_order = is_in_order && writer < kWriters && event.step == step_of(static_cast<int>(writer), steps[writer]);
      if (writer < kWriters) ++steps[writer];
    }
  }
};

TEST(Tail, EightReadersSeeEachEventOnceInOrder) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) record_in_child(folder.path());

  std::atomic<bool> is_over = false;
  std::vector<Reader> seen(kReaders);
  std::vector<std::thread> readers;
  for (Reader& reader : seen) {
    readers.emplace_back([&] {
      std::unique_ptr<journal::JobLog> log;
      for (bool was_over = false; !was_over;) {
        was_over = is_over;
        if (log == nullptr) {
          auto opened =
              journal::JobLog::open(posix_file_system(), {{.path = folder.path()}}, "tail", "", system_clock());
          if (!opened.ok()) continue;
          log = std::move(opened).value();
        }
        EXPECT_TRUE(log->poll([&](std::span<const event::Event> events) {
                         reader.take(events);
                         return true;
                       })
                        .ok());
        usleep(1'000);
      }
      EXPECT_TRUE(log->findings().empty()) << log->findings().front().kind << ": " << log->findings().front().detail;
      size_t again = 0;
      EXPECT_TRUE(log->read(0, std::numeric_limits<int64_t>::max(),
                            [&](std::span<const event::Event> events) {
                              again += static_cast<size_t>(std::count_if(
                                  events.begin(), events.end(),
                                  [](const event::Event& e) { return e.kind == event::Kind::kStepStart; }));
                              return true;
                            })
                      .ok());
      EXPECT_EQ(again, static_cast<size_t>(kWriters * steps_per_writer()));
    });
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  for (const Reader& reader : seen) {
    EXPECT_TRUE(reader.is_in_order);
    for (const int64_t steps : reader.steps) EXPECT_EQ(steps, steps_per_writer());
    EXPECT_EQ(reader.custom, static_cast<size_t>(kWriters * ((steps_per_writer() + 999) / 1'000)));
  }
}

}  // namespace
}  // namespace goodput
