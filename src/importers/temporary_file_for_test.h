// A file that a test writes and that goes away with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::importers {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content = "") {
    std::string path = "/tmp/goodput-test-XXXXXX";
    const int fd = ::mkstemp(path.data());
    CHECK(fd >= 0);
    ::close(fd);
    path_ = path;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace goodput::importers
