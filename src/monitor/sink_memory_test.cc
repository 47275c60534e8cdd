// SPDX-License-Identifier: Apache-2.0
#include "monitor/sink_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "monitor/followed_fixture.h"
#include "monitor/sink_lock.h"

namespace goodput::monitor {
namespace {

class SinkMemoryTest : public FollowedFixture {
 protected:
  FollowedJob& job() {
    if (job_ == nullptr) {
      steps(journal_, 0, 3, kBoot);
      job_ = follow();
    }
    return *job_;
  }
  std::unique_ptr<SinkMemory> open(const std::string& sink = "otlp http://c") {
    return SinkMemory::open(job().log(), sink);
  }
  std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("told-")) return entry.path();
    }
    return {};
  }

  JournalFixture journal_{folder_.path(), {}};
  std::unique_ptr<FollowedJob> job_;
};

TEST_F(SinkMemoryTest, TheNextRecallsWhatWasKeptOfThatSink) {
  EXPECT_EQ(open()->recall(), "");
  ASSERT_TRUE(open()->keep(std::string("a\0b", 3)).ok());
  EXPECT_EQ(open()->recall(), std::string("a\0b", 3));
  EXPECT_EQ(open("otlp http://other")->recall(), "");
}

TEST_F(SinkMemoryTest, DamageIsAsIfThereWereNothing) {
  ASSERT_TRUE(open()->keep("told").ok());
  const auto path = file();
  std::string bytes(8, '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), 8);
  for (size_t bit = 0; bit < 64; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    std::ofstream(path, std::ios::binary | std::ios::trunc) << flipped;
    EXPECT_EQ(open()->recall(), "") << bit;
  }
  std::filesystem::resize_file(path, 3);
  EXPECT_EQ(open()->recall(), "");
}

TEST_F(SinkMemoryTest, LocksThatAreTakenLaterExcludeAnotherProcessToo) {
  const auto mine = SinkLocks::open(job().log(), "goodput monitor 7b");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(mine->take("series a").ok());
  const pid_t other = fork();
  if (other == 0) {
    const auto theirs = SinkLocks::open(job().log(), "second");
    const Status refused = theirs->take("series a");
    const bool is_told = refused.code() == StatusCode::kAlreadyExists &&
                         refused.message() == "exporting to series a: goodput monitor 7b already does";
    _exit(is_told && theirs->take("series b").ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SinkMemoryTest, AnotherProcessIsToldWhoExportsThere) {
  const auto mine = lock_sink(job().log(), "otlp http://c", "goodput monitor 7b");
  ASSERT_TRUE(mine.ok());
  const pid_t other = fork();
  if (other == 0) {
    const Status refused = lock_sink(job().log(), "otlp http://c", "second").status();
    const bool is_told = refused.code() == StatusCode::kAlreadyExists &&
                         refused.message() == "exporting to otlp http://c: goodput monitor 7b already does";
    const bool is_free = lock_sink(job().log(), "otlp http://other", "second").ok();
    _exit(is_told && is_free ? 0 : 1);
  }
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SinkMemoryTest, NothingIsKeptWhereOthersMayWrite) {
  job();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.is_directory()) std::filesystem::permissions(entry.path(), std::filesystem::perms(0777));
  }
  EXPECT_EQ(open(), nullptr);
}

}  // namespace
}  // namespace goodput::monitor
