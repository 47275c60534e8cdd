// SPDX-License-Identifier: Apache-2.0
#include "base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/fault_file_system.h"

namespace goodput {
namespace {

using testing::UnorderedElementsAre;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class PosixFiles : public testing::Test {
 protected:
  PosixFiles() {
    char pattern[] = "/tmp/goodput_files_XXXXXX";
    path_ = mkdtemp(pattern);
    folder_ = std::move(posix_file_system().open_directory(path_)).value();
  }
  ~PosixFiles() override { std::filesystem::remove_all(path_); }

  std::string read(std::string_view name) { return text_of(read_whole_file(*folder_, name, 1 << 20).value()); }

  std::string path_;
  std::unique_ptr<Directory> folder_;
};

TEST_F(PosixFiles, ReadsBackWhatWasWritten) {
  auto file = std::move(folder_->open_file("a", Access::kCreate)).value();
  ASSERT_TRUE(file->write_at(3, bytes_of("steps")).ok());
  std::vector<std::byte> got(16);
  EXPECT_EQ(file->read_at(4, got).value(), 4u);
  got.resize(4);
  EXPECT_EQ(text_of(got), "teps");
  EXPECT_EQ(file->facts()->size_bytes, 8u);
  EXPECT_EQ(folder_->facts("a")->permissions, 0600u);
  EXPECT_EQ(folder_->open_file("a", Access::kCreate).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(folder_->open_file("b", Access::kRead).status().code(), StatusCode::kNotFound);
}

TEST_F(PosixFiles, LinksAndPipesAreNotOpened) {
  ASSERT_EQ(symlink("/etc/hostname", (path_ + "/link").c_str()), 0);
  ASSERT_EQ(symlink("/etc", (path_ + "/way_out").c_str()), 0);
  ASSERT_EQ(mkfifo((path_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(folder_->open_file("link", Access::kRead).status().code(), StatusCode::kPermissionDenied);
  EXPECT_FALSE(folder_->open_directory("way_out").ok());
  EXPECT_EQ(folder_->open_file("pipe", Access::kRead).status().code(), StatusCode::kUnreadable);
  EXPECT_EQ(folder_->facts("link")->type, FileType::kLink);
}

TEST_F(PosixFiles, NamesAreSingleComponents) {
  for (const char* name : {"", ".", "..", "a/b", "../a", "/etc/hostname"}) {
    EXPECT_EQ(folder_->open_file(name, Access::kRead).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(folder_->open_directory(name).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(folder_->make_directory(name).code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(folder_->remove_file(name).code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(folder_->rename(name, "b").code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(folder_->rename("b", name).code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST_F(PosixFiles, FoldersAreMadePrivate) {
  ASSERT_TRUE(posix_file_system().make_directories(path_ + "/x/y").ok());
  ASSERT_TRUE(posix_file_system().make_directories(path_ + "/x/y").ok());
  EXPECT_EQ(folder_->facts("x")->permissions, 0700u);
  EXPECT_EQ(folder_->facts("x")->owner, getuid());
  EXPECT_THAT(folder_->list().value(), UnorderedElementsAre("x"));
}

TEST_F(PosixFiles, ReplacingLeavesNoScratch) {
  ASSERT_TRUE(replace_file(*folder_, "index", "index.tmp", bytes_of("one")).ok());
  ASSERT_TRUE(replace_file(*folder_, "index", "index.tmp", bytes_of("two")).ok());
  EXPECT_EQ(read("index"), "two");
  EXPECT_THAT(folder_->list().value(), UnorderedElementsAre("index"));
  EXPECT_EQ(read_whole_file(*folder_, "index", 2).status().code(), StatusCode::kUnsupported);
}

TEST_F(PosixFiles, ALockKeepsOtherProcessesOut) {
  auto file = std::move(folder_->open_file("lock", Access::kCreate)).value();
  ASSERT_TRUE(file->lock().ok());
  const pid_t child = fork();
  if (child == 0) {
    auto again = folder_->open_file("lock", Access::kReadWrite);
    _exit(again.ok() && again.value()->lock().code() == StatusCode::kUnavailable ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(PosixFiles, TheNamedCallFailsAndNoOther) {
  FaultyFileSystem faulty(posix_file_system());
  uint64_t calls = 0;
  for (uint64_t n = 1;; ++n) {
    auto folder = std::move(faulty.open_directory(path_)).value();
    faulty.fail_call(n, ENOSPC);
    const Status written = replace_file(*folder, "index", "index.tmp", bytes_of("content"));
    calls = faulty.calls();
    if (calls < n) {
      EXPECT_TRUE(written.ok());
      break;
    }
    EXPECT_EQ(written.code(), StatusCode::kNoSpace) << n;
    faulty.fail_call(0, 0);
  }
  EXPECT_EQ(calls, 6u);  // remove, create, write, sync, rename, sync
}

TEST(MemoryFiles, APowerCutKeepsWhatWasSynced) {
  int old_content = 0, new_content = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem memory;
    ASSERT_TRUE(memory.make_directories("a/b").ok());
    ASSERT_TRUE(memory.open_directory("").value()->sync().ok());
    ASSERT_TRUE(memory.open_directory("a").value()->sync().ok());
    {
      auto folder = std::move(memory.open_directory("a/b")).value();
      ASSERT_TRUE(replace_file(*folder, "index", "index.tmp", bytes_of("old")).ok());
      auto file = std::move(folder->open_file("scratch", Access::kCreate)).value();
      ASSERT_TRUE(file->write_at(0, std::vector<std::byte>(3 * MemoryFileSystem::kPageBytes, std::byte{1})).ok());
      ASSERT_TRUE(folder->rename("scratch", "index").ok());
    }
    memory.lose_power(seed);
    auto folder = std::move(memory.open_directory("a/b")).value();
    const auto after = read_whole_file(*folder, "index", 1 << 20);
    ASSERT_TRUE(after.ok());  // renamed without a sync: old, new, or a new name with any of its pages
    ++(text_of(after.value()) == "old" ? old_content : new_content);
  }
  EXPECT_GT(old_content, 20);
  EXPECT_GT(new_content, 20);
}

}  // namespace
}  // namespace goodput
