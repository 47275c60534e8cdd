// What the background threads, and whoever opens and closes, do with a Writer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ctime>

#include "journal/clock_slots.h"
#include "record/system_calls.h"
#include "record/writer.h"

namespace goodput::record {
namespace {

/// Reading the clock so many times tells a function call from a system call.
constexpr int kClockProbes = 64;
/// A system call is at least four times a function call (35 against 155 to 180 ns).
constexpr int64_t kSystemCallFactor = 3;

int64_t probe_ns(clockid_t id) {
  const int64_t start = read_clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kClockProbes; ++i) read_clock_ns(id);
  return read_clock_ns(CLOCK_MONOTONIC) - start;
}

bool is_in_any(std::span<LiveSegment* const> segments, uint64_t address) {
  return std::any_of(segments.begin(), segments.end(),
                     [address](const LiveSegment* s) { return s->contains(address); });
}

}  // namespace

void RecordClock::choose() {
  // The least of three: being scheduled out once must not decide.
  int64_t boot = probe_ns(CLOCK_BOOTTIME);
  int64_t monotonic = probe_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < 2; ++i) {
    boot = std::min(boot, probe_ns(CLOCK_BOOTTIME));
    monotonic = std::min(monotonic, probe_ns(CLOCK_MONOTONIC));
  }
  if (boot > kSystemCallFactor * monotonic) id = CLOCK_MONOTONIC;
  refresh();
}

void RecordClock::refresh() {
  if (id == CLOCK_BOOTTIME) return;
  // Boot time is read between two readings of the other: the difference is right to half of what that takes. A change
  // below a microsecond is noise, and would make time run backwards.
  const int64_t before = read_clock_ns(id);
  const int64_t boot = boot_time_ns();
  const int64_t ahead = boot - (before + (read_clock_ns(id) - before) / 2);
  constexpr int64_t kNoiseNs = 1'000'000;
  const int64_t known = ahead_ns.load(std::memory_order_relaxed);
  if (ahead > known + kNoiseNs || known == 0) ahead_ns.store(ahead, std::memory_order_relaxed);
}

void Writer::store_liveness(const ClockPair& pair) {
  const Pin pin(*this);
  LiveSegment* segment = chain_.current();
  if (segment == nullptr) return;
  store_clock(*segment, ++pairs_, pair);
  const int64_t step_ns = (pair.wall_ns - last_pair_.wall_ns) - (pair.boot_ns - last_pair_.boot_ns);
  const bool stepped = step_ns >= journal::kClockStepNs || step_ns <= -journal::kClockStepNs;
  if (last_pair_.boot_ns != 0 && stepped) store_clock_step(*segment, pair, step_ns);
  last_pair_ = pair;
}

void Writer::publish_counts() {
  const Pin pin(*this);
  for (size_t i = 0; i < counts_.size(); ++i) {
    const uint64_t count = counts_[i].load(std::memory_order_relaxed);
    if (count != 0) store_count(static_cast<journal::Counter>(i), count);
  }
}

bool Writer::quiesce(std::span<LiveSegment* const> segments, int64_t patience_ns) {
  if (!can_quiesce_) return false;
  const int64_t deadline_ns = read_clock_ns(CLOCK_MONOTONIC) + patience_ns;
  const auto pause = [deadline_ns] {
    if (read_clock_ns(CLOCK_MONOTONIC) > deadline_ns) return false;
    const timespec moment{.tv_sec = 0, .tv_nsec = 20'000};
    nanosleep(&moment, nullptr);
    return true;
  };
  do {
    for (uint32_t i = 0; i < lanes_->count(); ++i) {
      std::atomic<uint64_t>& limit = (*lanes_)[i].limit;
      uint64_t end = limit.load(std::memory_order_relaxed);
      if (is_in_any(segments, end)) limit.compare_exchange_strong(end, 0, std::memory_order_relaxed);
    }
    // A call that begins after this finds no run of theirs. One that had begun may be about to install one that it
    // took before its segment was closed: it is waited for, and then there is a limit to take away again.
    barrier_in_all_threads();
    for (uint32_t i = 0; i < lanes_->count(); ++i) {
      while ((*lanes_)[i].busy.load(std::memory_order_acquire) != 0) {
        if (!pause()) return false;
      }
    }
    while (pins_.load(std::memory_order_acquire) != 0) {
      if (!pause()) return false;
    }
  } while (has_run_in(segments));
  return true;
}

bool Writer::has_run_in(std::span<LiveSegment* const> segments) const {
  for (uint32_t i = 0; i < lanes_->count(); ++i) {
    if (is_in_any(segments, (*lanes_)[i].limit.load(std::memory_order_relaxed))) return true;
  }
  return false;
}

uint64_t Writer::activity() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < lanes_->count(); ++i) {
    const Lane& lane = (*lanes_)[i];
    sum += lane.cursor.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace goodput::record
