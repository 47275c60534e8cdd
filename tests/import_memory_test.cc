// What an import may hold in memory, whatever is in the file.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "event/export/jsonl_export.h"
#include "importers/imported_log.h"
#include "importers/temporary_file_for_test.h"
#include "simulate/simulation.h"

namespace goodput::importers {
namespace {

int64_t peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// The peak of a process never falls: the smaller comes first.
TEST(ImportMemoryTest, EventsBeyondTheBoundGoToAFile) {
  const TemporaryFile file;
  std::ofstream out(file.path(), std::ios::binary);
  event::JsonlExport lines("j", {.with_position = false});
  simulate::Simulation(simulate::measured_job(200'000)).run([&](std::span<const event::Event> events) {
    std::string text;
    lines.append(events, text);
    out << text;
    return true;
  });
  out.close();
  const int64_t before = peak_mib();
  const auto log = import_log(file.path(), {.memory_bytes = 1 << 20});
  ASSERT_TRUE(log.ok()) << log.status().message();
  EXPECT_GT((*log)->events(), 600'000U);
  EXPECT_LT(peak_mib() - before, 6);  // the events take ten
}

TEST(ImportMemoryTest, AnEndlessLineCostsNoMoreThanTheLongestThatIsRead) {
  const TemporaryFile file("{\"job_start_time\": 1}\n");
  const int fd = ::open(file.path().c_str(), O_WRONLY);
  constexpr off_t kLineBytes = 300 << 20;
  const std::string end = "\n{\"job_end_time\": 2}\n";
  // A hole reads as zero bytes and takes no room on the disk.
  ASSERT_EQ(::pwrite(fd, end.data(), end.size(), kLineBytes), static_cast<ssize_t>(end.size()));
  ::close(fd);
  const int64_t before = peak_mib();
  const auto log = import_log(file.path(), {});
  ASSERT_TRUE(log.ok()) << log.status().message();
  EXPECT_EQ((*log)->events(), 2U);
  ASSERT_EQ((*log)->losses().size(), 1U);
  EXPECT_EQ((*log)->losses()[0].reason, "it is longer than 64 MiB");
  EXPECT_EQ((*log)->losses()[0].first_line, 2U);
  EXPECT_LT(peak_mib() - before, 80);
}

}  // namespace
}  // namespace goodput::importers
