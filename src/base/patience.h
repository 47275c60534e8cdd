// A pause that somebody else may end.
//
//   if (!wait(pause_ns, &is_cancelled)) return;          // looked at twenty times a second
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace goodput {

/// False when it was cancelled before or meanwhile. `is_cancelled` may be null.
inline bool wait(int64_t pause_ns, const std::atomic<bool>* is_cancelled) {
  constexpr int64_t kLookNs = 50'000'000;
  const auto goes_on = [&] { return is_cancelled == nullptr || !is_cancelled->load(); };
  for (int64_t left_ns = pause_ns; left_ns > 0 && goes_on(); left_ns -= kLookNs) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left_ns, kLookNs)));
  }
  return goes_on();
}

}  // namespace goodput
