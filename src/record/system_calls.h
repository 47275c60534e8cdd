// The calls of the operating system that prepare and keep live segments, in one place where tests make them fail.
//
// They are plain functions, because a recording thread makes them too, perhaps inside a signal handler: no allocation,
// no lock. What the rest of the project asks of files goes through base/file_system.h.
//
//   const int fd = system_calls.open_at(folder, "00000001.live", O_RDWR | O_CREAT | O_EXCL);
//   if (fd < 0) return -fd;                       // results are values: -errno, EINTR never
//   if (int error = system_calls.allocate(fd, bytes); error != 0) …
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace goodput::record {

struct SystemCalls {
  int (*open_at)(int folder, const char* name, int flags);   ///< descriptor or -errno; 0600, close-on-exec
  int (*make_folder_at)(int folder, const char* name);       ///< 0 or errno; 0700
  int (*allocate)(int fd, uint32_t bytes);                   ///< 0 or errno; SIGXFSZ is swallowed
  int (*map)(int fd, uint32_t bytes, std::byte** base);      ///< 0 or errno; shared, readable and writable
  int (*populate)(int fd, std::byte* base, uint32_t bytes);  ///< 0 or errno: every page can be written from here on
  int (*write_at)(int fd, std::span<const std::byte> bytes, uint64_t offset);  ///< 0 or errno; whole
  int (*sync)(int fd);                                                         ///< 0 or errno
  int (*facts)(int fd, struct stat* facts);                                    ///< 0 or errno
  int (*rename_at)(int folder, const char* from, const char* to);              ///< 0 or errno; replaces
  int (*publish_at)(int folder, const char* from, const char* to);  ///< the same, but EEXIST where there is one
  int (*remove_at)(int folder, const char* name);                   ///< 0 or errno
};

/// What is called. Tests put others in before they open a recorder and put these back afterwards.
extern SystemCalls system_calls;

/// membarrier(2): once it returns, every thread of the process has seen what this one stored before, or stored what it
/// then reads. False where the kernel does not have it.
bool prepare_barrier();
void barrier_in_all_threads();

}  // namespace goodput::record
