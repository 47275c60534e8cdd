// SPDX-License-Identifier: Apache-2.0
#include "record/keeper.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace goodput::record {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
/// A failed preparation is tried again after this, and files are looked after: recording resumes within a second of
/// space.
constexpr int64_t kRetryNs = kSecondNs / 2;
/// How long one pass waits for recording threads to leave a full segment; the next pass tries again.
constexpr int64_t kRetirePatienceNs = 20'000'000;
/// At the end a thread may be stopped in the middle of a call; then its segment stays live, and whoever reads it seals
/// it.
constexpr int64_t kFinalPatienceNs = kSecondNs;
/// Sealing compresses blocks of a few KiB on the stack and in vectors.
constexpr size_t kStackBytes = size_t{512} * 1024;

timespec to_timespec(int64_t ns) { return {.tv_sec = ns / kSecondNs, .tv_nsec = ns % kSecondNs}; }

/// True when it was posted, false at the deadline.
bool wait_until(sem_t& semaphore, int64_t deadline_ns) {
  const timespec deadline = to_timespec(deadline_ns);
  while (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &deadline) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

Keeper::Thread::Thread() {
  sem_init(&wake, 0, 0);
  sem_init(&done, 0, 0);
}

Keeper::Thread::~Thread() {
  sem_destroy(&wake);
  sem_destroy(&done);
}

/// No signal of the host process is delivered to it.
void Keeper::Thread::start(const char* name, void* (*run)(void*), Keeper* keeper) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  runs = pthread_create(&thread, &attributes, run, keeper) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (runs) pthread_setname_np(thread, name);
}

bool Keeper::Thread::join(int64_t deadline_ns) {
  if (!runs) return true;
  sem_post(&wake);
  if (!wait_until(done, deadline_ns)) return false;
  pthread_join(thread, nullptr);
  runs = false;
  return true;
}

int Keeper::prepare() {
  const int error = housekeeping_.supply();
  writer_.store_liveness(read_pair(system_clock()));
  return error;
}

void Keeper::start() {
  writer_.on_need([](void* self) { static_cast<Keeper*>(self)->wake(); }, this);
  keeper_.start("goodput-keep", run_keeper, this);
  liveness_.start("goodput-alive", run_liveness, this);
}

void Keeper::wake() {
  if (!wake_pending_.exchange(true, std::memory_order_acq_rel)) sem_post(&keeper_.wake);
}

bool Keeper::stop(int64_t patience_ns) {
  const bool had_keeper = keeper_.runs || is_finished_;
  const int64_t deadline_ns = read_clock_ns(CLOCK_MONOTONIC) + patience_ns;
  stopping_.store(true, std::memory_order_release);
  if (!liveness_.join(deadline_ns) || !keeper_.join(deadline_ns)) return false;
  if (!had_keeper) housekeeping_.finish_all(kFinalPatienceNs);
  is_finished_ = true;
  return writer_.chain().oldest() == nullptr;
}

void* Keeper::run_keeper(void* self) {
  auto* keeper = static_cast<Keeper*>(self);
  keeper->keep();
  sem_post(&keeper->keeper_.done);
  return nullptr;
}
void* Keeper::run_liveness(void* self) {
  auto* keeper = static_cast<Keeper*>(self);
  keeper->keep_alive();
  sem_post(&keeper->liveness_.done);
  return nullptr;
}

void Keeper::keep_alive() {
  for (int64_t next_ns = read_clock_ns(CLOCK_MONOTONIC) + kSecondNs; !stopping_.load(std::memory_order_acquire);) {
    if (wait_until(liveness_.wake, next_ns)) break;
    writer_.clock().refresh();
    writer_.store_liveness(read_pair(system_clock()));
    next_ns = std::max(next_ns + kSecondNs, read_clock_ns(CLOCK_MONOTONIC));
  }
}

void Keeper::keep() {
  // Without syncs, too, segments are sealed and staged ones copied.
  const double interval_seconds = housekeeping_.options().sync_interval_seconds;
  const auto sync_interval_ns =
      interval_seconds > 0 ? static_cast<int64_t>(std::min(interval_seconds, 86'400.0) * static_cast<double>(kSecondNs))
                           : kSecondNs;
  int64_t next_check_ns = read_clock_ns(CLOCK_MONOTONIC) + kRetryNs;
  int64_t next_sync_ns = read_clock_ns(CLOCK_MONOTONIC) + sync_interval_ns;
  while (!stopping_.load(std::memory_order_acquire)) {
    wait_until(keeper_.wake, std::min(next_check_ns, next_sync_ns));
    wake_pending_.store(false, std::memory_order_release);
    housekeeping_.supply();
    if (read_clock_ns(CLOCK_MONOTONIC) >= next_check_ns) {
      housekeeping_.check_files();
      next_check_ns = read_clock_ns(CLOCK_MONOTONIC) + kRetryNs;
    }
    housekeeping_.retire_full(kRetirePatienceNs);
    if (read_clock_ns(CLOCK_MONOTONIC) >= next_sync_ns) {
      housekeeping_.sync();
      housekeeping_.seal();
      next_sync_ns = read_clock_ns(CLOCK_MONOTONIC) + sync_interval_ns;
    }
  }
  housekeeping_.finish_all(kFinalPatienceNs);
}

}  // namespace goodput::record
