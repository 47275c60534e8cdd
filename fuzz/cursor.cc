// Any bytes as the cursor of a log, in a run's folder without journals; and as the file that brings a cursor.
//
// The first byte chooses: as it is, or framed as a cursor with its checksum, so that what is behind it is reached.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "base/checksum.h"
#include "base/fault_file_system.h"
#include "base/manual_clock.h"
#include "journal/folder_names.h"
#include "journal/job_log.h"
#include "monitor/resume_point.h"

namespace {

using namespace goodput;

std::unique_ptr<journal::JobLog> open_log(MemoryFileSystem& files, const Clock& clock) {
  const std::string run =
      std::string(journal::kLayoutFolder) + "/" + journal::hash_name("j") + "/" + journal::hash_name("");
  CHECK(files.make_directories(run + "/" + journal::kKeptFolder).ok());
  return std::move(journal::JobLog::open(files, {{.path = ""}}, "j", "", clock)).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* start, size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(start + 1, size - 1));
  (void)monitor::decode_resume_point(input, {});
  MemoryFileSystem files;
  const ManualClock clock;
  std::vector<std::byte> cursor(input.begin(), input.end());
  if (start[0] % 2 != 0) {
    // The head of a good cursor, with the checksum of what follows.
    const std::vector<std::byte> good = open_log(files, clock)->cursor();
    const uint32_t checksum = crc32c(cursor);
    cursor.insert(cursor.begin(), good.begin(), good.begin() + 8);
    std::memcpy(cursor.data() + 4, &checksum, sizeof(checksum));
  }
  const auto log = open_log(files, clock);
  if (!log->resume(cursor).ok()) return 0;
  (void)log->poll([](std::span<const event::Event>) { return true; });
  (void)log->findings();
  (void)log->cursor();
  return 0;
}
