// One step from C++, against the floor (read the clock, store 32 bytes), by one thread and by two at once, and against
// spdlog writing a line per step. Bursts of 20 with pauses between, as a training loop makes them; a figure is the
// median of five rounds, each the median of its bursts. SPDX-License-Identifier: Apache-2.0
#include <goodput/recorder.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "harness.h"

namespace goodput::bench {
namespace {

constexpr int kBurst = 20;
constexpr int kBurstsPerRound = 2'000;
constexpr auto kPause = std::chrono::microseconds(100);

/// Cost of one call in the median burst of a round.
template <typename Call>
double round_ns(Call call) {
  std::vector<double> bursts;
  bursts.reserve(kBurstsPerRound);
  for (int i = 0; i < kBurstsPerRound; ++i) {
    const double start_ns = monotonic_ns();
    for (int k = 0; k < kBurst; ++k) call(i * kBurst + k);
    bursts.push_back((monotonic_ns() - start_ns) / kBurst);
    const double pause_end_ns = monotonic_ns() + static_cast<double>(std::chrono::nanoseconds(kPause).count());
    while (monotonic_ns() < pause_end_ns) {
    }
  }
  return median(bursts);
}

/// The floor: what any recorder that keeps a time and 32 bytes must do.
class Floor {
 public:
  Floor() : words_(kBytes / sizeof(uint64_t)) {}

  void operator()(int64_t step) {
    timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    uint64_t* slot = words_.data() + at_;
    slot[0] = 1;
    slot[1] = static_cast<uint64_t>(now.tv_sec * 1'000'000'000 + now.tv_nsec);
    slot[2] = static_cast<uint64_t>(step);
    slot[3] = at_;
    at_ = (at_ + 4) % words_.size();
    __asm__ volatile("" : : "r"(slot) : "memory");
  }

 private:
  static constexpr size_t kBytes = size_t{64} * 1024;
  std::vector<uint64_t> words_;
  size_t at_ = 0;
};

/// The same call in two threads at once; the mean of their medians.
template <typename MakeCall>
double two_threads_ns(MakeCall make_call) {
  std::atomic<int> ready{0};
  double costs[2] = {};
  const auto run = [&](int i) {
    auto call = make_call();
    ++ready;
    while (ready < 2) {
    }
    costs[i] = round_ns(call);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  return (costs[0] + costs[1]) / 2;
}

std::string both_ns(double ours, double floor) { return Table::format("%.1f ns against %.1f ns", ours, floor); }

int run() {
  setenv("GOODPUT_QUIET", "1", 1);
  const std::string folder = (std::filesystem::temp_directory_path() / "goodput-step-bench").string();
  std::filesystem::remove_all(folder);
  Recorder recorder = Recorder::open({.job = "bench", .directory = folder});
  Recorder off;
  auto logger = spdlog::basic_logger_st("steps", folder + "/steps.log", true);
  const auto record = [&recorder](int64_t step) { recorder.step(step); };

  Table table;
  Floor floor;
  const std::vector<double> one = alternate({
      [&] { return round_ns(record); },
      [&] { return round_ns(std::ref(floor)); },
      [&] { return round_ns([&](int64_t step) { logger->info("step {}", step); }); },
      [&] { return round_ns([&](int64_t step) { off.step(step); }); },
      [&] { return round_ns([&](int64_t step) { recorder.step(step, {.tokens = 4096}); }); },
      [&] { return round_ns([&](int64_t) { recorder.custom("eval").end(); }); },
  });
  const std::vector<double> two = alternate({
      [&] { return two_threads_ns([&] { return record; }); },
      [&] { return two_threads_ns([] { return Floor(); }); },
  });
  const std::string against = "(clock read + 32-byte store)";
  table.add({"one step from C++", one[0] / one[1], 1.25, against, both_ns(one[0], one[1])});
  table.add(
      {"two threads, one step each", two[0] / two[1], 1.3, "two threads doing just that", both_ns(two[0], two[1])});
  table.add({"one step, spdlog to a file", one[2] / one[1], 0, against, both_ns(one[2], one[1])});
  table.add({"one step, recorder off", one[3] / one[1], 0, against, both_ns(one[3], one[1])});
  table.add({"one step with its work", one[4] / one[1], 0, against, both_ns(one[4], one[1])});
  table.add({"a custom event, start and end", one[5] / one[1], 0, against, both_ns(one[5], one[1])});
  const RecorderCounts counts = recorder.counts();
  std::printf("lost %llu events; %llu segments prepared by a recording thread\n",
              static_cast<unsigned long long>(counts.lost_events),
              static_cast<unsigned long long>(counts.prepared_by_caller));
  recorder.close();
  std::filesystem::remove_all(folder);
  return counts.lost_events == 0 ? table.exit_code() : 1;
}

}  // namespace
}  // namespace goodput::bench

int main() { return goodput::bench::run(); }
