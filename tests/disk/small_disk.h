// A small file system of its own for a test: a tmpfs that can be filled, emptied and made read-only.
//
//   SmallDisk disk(8 * 1024 * 1024);
//   if (!disk.is_mounted()) GTEST_SKIP() << "mounting takes root";
//   disk.fill();     // until there is no space left
//   disk.empty();    // takes that back
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/temporary_folder.h"

namespace goodput::record {

class SmallDisk {
 public:
  explicit SmallDisk(size_t bytes) : options_("size=" + std::to_string(bytes) + ",mode=700") {
    mounted_ = mount("none", path().c_str(), "tmpfs", 0, options_.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool is_mounted() const { return mounted_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  void fill() {
    const int fd = open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(fd >= 0);
    // The system swallows what does not fit: a page at a time, until not even one does.
    const std::vector<char> page(4096, 'x');
    while (write(fd, page.data(), page.size()) > 0) {
    }
    close(fd);
  }
  void empty() { CHECK(unlink(filler().c_str()) == 0); }
  [[nodiscard]] bool remount(unsigned long flags) {
    return mount("none", path().c_str(), "tmpfs", MS_REMOUNT | flags, options_.c_str()) == 0;
  }

 private:
  [[nodiscard]] std::string filler() const { return path() + "/filler"; }

  const TemporaryFolder folder_;
  const std::string options_;
  bool mounted_ = false;
};

}  // namespace goodput::record
