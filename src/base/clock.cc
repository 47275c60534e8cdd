// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fcntl.h>
#include <unistd.h>

namespace goodput {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] int64_t wall_ns() const override { return wall_time_ns(); }
  [[nodiscard]] int64_t boot_ns() const override { return boot_time_ns(); }
};

// A gap of 2 µs is two undisturbed readings with room to spare; a preempted one takes 50 µs and more.
constexpr int64_t kUndisturbedGapNs = 2'000;
constexpr int kTries = 3;

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

ClockPair read_pair(const Clock& clock) {
  ClockPair best;
  int64_t narrowest_ns = INT64_MAX;
  for (int i = 0; i < kTries && narrowest_ns > kUndisturbedGapNs; ++i) {
    const int64_t before_ns = clock.boot_ns();
    const int64_t wall_ns = clock.wall_ns();
    const int64_t gap_ns = clock.boot_ns() - before_ns;
    if (gap_ns >= narrowest_ns) continue;
    narrowest_ns = gap_ns;
    best = {.boot_ns = before_ns + gap_ns / 2, .wall_ns = wall_ns};
  }
  return best;
}

std::string read_boot_id() {
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[36];
  const ssize_t got = read(file, text, sizeof text);
  close(file);
  return got == static_cast<ssize_t>(sizeof text) ? std::string(text, sizeof text) : std::string();
}

}  // namespace goodput
