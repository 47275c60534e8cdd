// The two clocks of a journal: wall time, which people read, and boot time, which never steps.
//
// Record with boot_ns() alone and map to wall time once: wall clocks are set back and forth, boot time (CLOCK_BOOTTIME:
// since the machine started, suspension included) only advances. Everything outside the hot path takes a Clock&, so
// that tests turn the hands (base/manual_clock.h).
//
//   const ClockPair now = read_pair(system_clock());     // both at one instant
//   const int64_t wall_ns = now.wall_ns + (event_boot_ns - now.boot_ns);
//
// Thread-safe; reading never fails. Boot times compare only between equal boot ids.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace goodput {

/// One clock_gettime in nanoseconds. Async-signal-safe; 33 to 35 ns where the kernel maps the clock into the process.
inline int64_t read_clock_ns(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
inline int64_t boot_time_ns() { return read_clock_ns(CLOCK_BOOTTIME); }
inline int64_t wall_time_ns() { return read_clock_ns(CLOCK_REALTIME); }

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual int64_t wall_ns() const = 0;  ///< since the epoch
  [[nodiscard]] virtual int64_t boot_ns() const = 0;  ///< since the machine started
};

/// The machine's clocks. Lives as long as the process.
Clock& system_clock();

/// Both clocks at what is meant to be one instant.
struct ClockPair {
  int64_t boot_ns = 0;
  int64_t wall_ns = 0;
};

/// Reads wall between two readings of boot time, up to three times, and keeps the reading with the narrowest gap: being
/// scheduled out between the two must not look like a step of the wall clock.
ClockPair read_pair(const Clock& clock);

/// Names this boot of this machine (36 characters). Empty where the system does not tell: then compare with nothing.
std::string read_boot_id();

}  // namespace goodput
