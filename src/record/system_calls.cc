// SPDX-License-Identifier: Apache-2.0
#include "record/system_calls.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>

namespace goodput::record {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif
constexpr size_t kPage = 4096;

/// Repeats a call that a signal interrupts. Returns its result, or -errno.
template <typename Call>
auto retry(Call call) -> decltype(call()) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}
template <typename Call>
int error_of(Call call) {
  const auto result = retry(call);
  return result < 0 ? static_cast<int>(-result) : 0;
}

/// Growing a file beyond RLIMIT_FSIZE raises SIGXFSZ, whose default is to kill. This blocks it in the calling thread,
/// and takes back the one that was raised meanwhile.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&mask_);
    sigaddset(&mask_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &mask_, &before_);
  }
  ~FileSizeSignalBlocked() {
    const timespec at_once{};
    if (!was_pending_) {
      while (sigtimedwait(&mask_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  sigset_t mask_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

int open_at(int folder, const char* name, int flags) {
  return static_cast<int>(retry([&] { return openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600); }));
}

int make_folder_at(int folder, const char* name) {
  return error_of([&] { return mkdirat(folder, name, 0700); });
}

int write_at(int fd, std::span<const std::byte> bytes, uint64_t offset) {
  const FileSizeSignalBlocked blocked;
  while (!bytes.empty()) {
    const ssize_t written = retry([&] { return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written < 0) return static_cast<int>(-written);
    if (written == 0) return EIO;
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return 0;
}

/// Writes zeros: what fallocate does, where there is no fallocate.
int write_zeros(int fd, uint32_t bytes) {
  static const std::byte zeros[kPage] = {};
  for (uint64_t at = 0; at < bytes; at += kPage) {
    if (const int error = write_at(fd, zeros, at); error != 0) return error;
  }
  return 0;
}

int allocate(int fd, uint32_t bytes) {
  int error = 0;
  {
    const FileSizeSignalBlocked blocked;
    error = error_of([&] { return fallocate(fd, 0, 0, bytes); });
  }
  return error == EOPNOTSUPP || error == ENOSYS ? write_zeros(fd, bytes) : error;
}

int map(int fd, uint32_t bytes, std::byte** base) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return errno;
  *base = static_cast<std::byte*>(memory);
  return 0;
}

int populate(int fd, std::byte* base, uint32_t bytes) {
  const int error = error_of([&] { return madvise(base, bytes, MADV_POPULATE_WRITE); });
  if (error != EINVAL) return error == EFAULT ? ENOSPC : error;
  // Before Linux 5.14: blocks that have been written once can be written again.
  if (const int failed = write_zeros(fd, bytes); failed != 0) return failed;
  for (uint32_t at = 0; at < bytes; at += kPage) {
    std::atomic_ref(*reinterpret_cast<uint64_t*>(base + at)).fetch_or(0, std::memory_order_relaxed);
  }
  return 0;
}

int sync(int fd) {
  return error_of([&] { return fdatasync(fd); });
}
int facts(int fd, struct stat* facts) {
  return error_of([&] { return fstat(fd, facts); });
}
int rename_at(int folder, const char* from, const char* to) {
  return error_of([&] { return renameat(folder, from, folder, to); });
}
int publish_at(int folder, const char* from, const char* to) {
  const int error = error_of([&] { return renameat2(folder, from, folder, to, RENAME_NOREPLACE); });
  if (error != EINVAL && error != ENOSYS) return error;
  // Where the file system does not know that: a link fails when the name is taken.
  const int linked = error_of([&] { return linkat(folder, from, folder, to, 0); });
  if (linked == 0) unlinkat(folder, from, 0);
  return linked;
}
int remove_at(int folder, const char* name) {
  return error_of([&] { return unlinkat(folder, name, 0); });
}

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

SystemCalls system_calls = {open_at, make_folder_at, allocate,  map,        populate, write_at,
                            sync,    facts,          rename_at, publish_at, remove_at};

bool prepare_barrier() { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0; }
void barrier_in_all_threads() { membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

}  // namespace goodput::record
