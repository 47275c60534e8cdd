// The two background threads of a journal: one says that the process is alive, the other keeps segments ready and safe.
//
// The liveness thread writes one clock pair a second and does nothing else, so that no stalled disk makes a living
// process look dead. The keeper prepares segments first, then looks after the files, then syncs, then seals.
//
//   Keeper keeper(writer, housekeeping);
//   keeper.start();
//   …
//   const bool done = keeper.stop(patience_ns);     // false: it is stuck in the file system; leave everything to it
//
// start() and stop() from one thread; wake() from any, also from signal handlers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>

#include "record/housekeeping.h"

namespace goodput::record {

class Keeper {
 public:
  Keeper(Writer& writer, Housekeeping& housekeeping) : writer_(writer), housekeeping_(housekeeping) {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Opens the folder where that can be done, prepares the first two segments and writes the first sign of life. What
  /// fails is tried again by the thread. 0 or errno of the first failure.
  int prepare();
  /// Without threads (the system refuses) recording threads prepare segments, and nothing is synced before the end.
  void start();
  void wake();
  /// Stops recording, syncs, seals, removes what was never used. False when that is not done in time: then nothing that
  /// the threads use may be destroyed, and it may be asked again.
  bool stop(int64_t patience_ns);

 private:
  struct Thread {
    pthread_t thread{};
    bool runs = false;
    sem_t wake{};
    sem_t done{};

    Thread();
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    void start(const char* name, void* (*run)(void*), Keeper* keeper);
    bool join(int64_t deadline_ns);
  };

  static void* run_keeper(void* self);
  static void* run_liveness(void* self);
  void keep();
  void keep_alive();

  Writer& writer_;
  Housekeeping& housekeeping_;
  Thread keeper_;
  Thread liveness_;
  bool is_finished_ = false;
  std::atomic<bool> wake_pending_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace goodput::record
