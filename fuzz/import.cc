// Any bytes as a file to import. Whatever they are, the events that come out are within the limits, in order, and as
// many as are said to be there. SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/status.h"
#include "importers/imported_log.h"

namespace {

using goodput::event::Event;

/// A file of the bytes that is in memory only.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* bytes, size_t size) : fd_(::memfd_create("import", 0)) {
    CHECK(fd_ >= 0);
    CHECK(::write(fd_, bytes, size) == static_cast<ssize_t>(size));
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

void check(goodput::importers::ImportedLog& log) {
  uint64_t events = 0;
  uint64_t timed = 0;
  const Event* before = nullptr;
  Event latest;
  CHECK(log.for_each_in_log_order([&](std::span<const Event> span) {
             for (const Event& e : span) {
               if (before != nullptr) CHECK(latest.position <= e.position);
               latest = e;
               before = &latest;
               ++events;
             }
             return true;
           })
            .ok());
  CHECK(events == log.events());
  int64_t latest_ns = 0;
  CHECK(log.read(0, std::numeric_limits<int64_t>::max(),
                 [&](std::span<const Event> span) {
                   for (const Event& e : span) {
                     CHECK(e.time_ns >= latest_ns);
                     latest_ns = e.time_ns;
                     ++timed;
                   }
                   return true;
                 })
            .ok());
  CHECK(timed + log.untimed_events() == events);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const MemoryFile file(bytes, size);
  // Bounds so small that a short input reaches them.
  const auto log = goodput::importers::import_log(file.path(), {.memory_bytes = 256, .max_entry_bytes = 512});
  if (log.ok()) {
    check(**log);
  } else {
    CHECK(!log.status().message().empty());
  }
  return 0;
}
