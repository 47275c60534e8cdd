// SPDX-License-Identifier: Apache-2.0
#include "record/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "record/system_calls.h"

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
constexpr size_t kStackBytes = 512 * 1024;

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
  int error = supply();
  if (error == 0) error = supply();
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
  if (!had_keeper) finish_all();
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
  const bool syncs = options_.sync_interval_seconds > 0;
  const auto sync_interval_ns =
      static_cast<int64_t>(std::min(options_.sync_interval_seconds, 86'400.0) * static_cast<double>(kSecondNs));
  int64_t next_check_ns = read_clock_ns(CLOCK_MONOTONIC) + kRetryNs;
  int64_t next_sync_ns = read_clock_ns(CLOCK_MONOTONIC) + sync_interval_ns;
  while (!stopping_.load(std::memory_order_acquire)) {
    wait_until(keeper_.wake, syncs ? std::min(next_check_ns, next_sync_ns) : next_check_ns);
    wake_pending_.store(false, std::memory_order_release);
    supply();
    if (read_clock_ns(CLOCK_MONOTONIC) >= next_check_ns) {
      check_files();
      next_check_ns = read_clock_ns(CLOCK_MONOTONIC) + kRetryNs;
    }
    retire_full(kRetirePatienceNs);
    if (syncs && read_clock_ns(CLOCK_MONOTONIC) >= next_sync_ns) {
      sync();
      seal();
      next_sync_ns = read_clock_ns(CLOCK_MONOTONIC) + sync_interval_ns;
    }
  }
  finish_all();
}

uint32_t Keeper::wanted_spares() const {
  // Two once a recording thread had to prepare one itself: events come faster than one spare lasts.
  return writer_.counts()[journal::Counter::kPreparedByCaller] == 0 ? 1 : 2;
}

int Keeper::supply() {
  SegmentChain& chain = writer_.chain();
  if (folder_.fd() < 0) {
    if (const int error = folder_.open(); error != 0) {
      chain.set_failure(error);
      return error;
    }
    chain.set_folder(folder_.fd());
    new_names_ = true;
  }
  while (chain.current() == nullptr || chain.spares() < wanted_spares()) {
    const bool was_failing = chain.failure() != 0;
    if (const int error = chain.add_segment(); error != 0) return error;
    new_names_ = true;
    if (was_failing) writer_.publish_counts();
  }
  return 0;
}

void Keeper::check_files() {
  SegmentChain& chain = writer_.chain();
  if (folder_.is_gone() && folder_.open() != 0) return;
  LiveSegment* last_bad = nullptr;
  for (LiveSegment* segment = chain.oldest(); segment != nullptr; segment = chain.after(*segment)) {
    struct stat facts;
    if (system_calls.facts(segment->fd, &facts) != 0) continue;
    if (facts.st_size >= segment->layout.segment_bytes && facts.st_nlink > 0) continue;
    segment->close();
    segment->is_spare = segment != chain.current() && segment->is_unused();
    last_bad = segment;
  }
  if (last_bad == nullptr) return;
  // The next one first, so that recorders need not wait for it.
  if (chain.after(*last_bad) == nullptr) chain.add_segment();
  new_names_ = true;
  chain.abandon_through(*last_bad);
  writer_.publish_counts();
}

void Keeper::retire_full(int64_t patience_ns) {
  SegmentChain& chain = writer_.chain();
  std::vector<LiveSegment*> full;
  const LiveSegment* current = chain.current();
  for (LiveSegment* segment = chain.oldest(); segment != nullptr && segment != current;
       segment = chain.after(*segment)) {
    segment->close();
    full.push_back(segment);
  }
  if (full.empty() || !writer_.quiesce(full, patience_ns)) return;
  for (LiveSegment* segment : full) {
    chain.take_out(*segment);
    finish(*segment);
    chain.recycle(*segment);
  }
}

void Keeper::finish(LiveSegment& segment) {
  struct stat facts {};
  const bool known = system_calls.facts(segment.fd, &facts) == 0;
  SegmentFile file{segment.number, segment.fd};
  bool keep_file = !segment.is_spare;
  if (!keep_file) {
    if (known && facts.st_nlink > 0) system_calls.remove_at(folder_.fd(), SegmentName(segment.number).c_str());
  } else if (known && facts.st_nlink == 0) {
    // Deleted, or sealed by somebody who took us for dead: what was recorded since is in the mapping only.
    file.fd = -1;
    keep_file = write_anew(segment, file);
    close(segment.fd);
  } else if (known && facts.st_size < segment.layout.segment_bytes) {
    keep_file = false;  // truncated: what is left of it is for recovery, not for sealing
  }
  munmap(segment.base, segment.layout.segment_bytes);
  segment.base = nullptr;
  if (keep_file) {
    unsynced_.push_back(file);
  } else if (file.fd >= 0) {
    close(file.fd);
  }
}

bool Keeper::write_anew(const LiveSegment& segment, SegmentFile& file) {
  const SegmentName name(segment.number);
  const int fd = system_calls.open_at(folder_.fd(), name.c_str(), O_RDWR | O_CREAT);
  if (fd < 0) return false;
  if (system_calls.write_at(fd, {segment.base, segment.layout.segment_bytes}, 0) != 0) {
    close(fd);
    return false;
  }
  file.fd = fd;
  new_names_ = true;
  return true;
}

void Keeper::sync() {
  SegmentChain& chain = writer_.chain();
  const uint64_t activity = writer_.activity();
  if (activity == synced_activity_ && unsynced_.empty() && !new_names_) return;
  synced_activity_ = activity;
  for (const SegmentFile& file : unsynced_) {
    if (system_calls.sync(file.fd) != 0) {
      const Pin pin(writer_);
      writer_.count(journal::Counter::kSyncFailed);
    }
    close(file.fd);
    unsealed_.push_back(file.number);
  }
  unsynced_.clear();
  LiveSegment* failed = nullptr;
  for (LiveSegment* segment = chain.oldest(); segment != nullptr; segment = chain.after(*segment)) {
    if (!segment->is_unused() && system_calls.sync(segment->fd) != 0) failed = segment;
  }
  if (failed != nullptr) {
    // Pages whose write failed count as clean: a second sync would succeed and prove nothing. Go on in another file.
    if (chain.after(*failed) == nullptr) chain.add_segment();
    chain.abandon_through(*failed);
    const Pin pin(writer_);
    writer_.count(journal::Counter::kSyncFailed);
  }
  if (new_names_ && folder_.sync_names() == 0) new_names_ = false;
}

void Keeper::seal() {
  if (options_.seal && !unsealed_.empty()) options_.seal(folder_.fd(), unsealed_);
  unsealed_.clear();
}

void Keeper::finish_all() {
  SegmentChain& chain = writer_.chain();
  writer_.close();
  LiveSegment* last = chain.current();
  while (last != nullptr && chain.after(*last) != nullptr) {
    last->close();
    last = chain.after(*last);
    last->close();
    last->is_spare = last->is_unused();
  }
  if (last != nullptr) chain.abandon_through(*last);
  retire_full(kFinalPatienceNs);
  sync();
  seal();
}

}  // namespace goodput::record
