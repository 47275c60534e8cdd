// For tests: a folder of their own that goes away with the object.
//
//   const TemporaryFolder folder;                 // under TMPDIR, else /tmp
//   const TemporaryFolder memory("/dev/shm");
//   auto recorder = Recorder::open({.job = "j", .directory = folder.path()});
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/status.h"

namespace goodput::record {

class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  explicit TemporaryFolder(const std::filesystem::path& above) {
    std::string pattern = (above / "goodput-test-XXXXXX").string();
    CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace goodput::record
