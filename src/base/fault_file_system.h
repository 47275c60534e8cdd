// File systems for tests: one that fails the n-th call, and one in memory that loses power.
//
//   FaultyFileSystem faulty(posix_file_system());
//   faulty.fail_call(17, ENOSPC);                       // and then works again
//
//   MemoryFileSystem memory;
//   … write, sync some of it …
//   memory.lose_power(seed);                            // what was not synced is kept or lost page by page
//
// One thread at a time. Linked into tests only (goodput_base_testing).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>

#include "base/file_system.h"

namespace goodput {

/// Which call fails. Shared by a FaultyFileSystem and all it opened.
struct FaultPlan {
  uint64_t calls = 0;     ///< made so far
  uint64_t fail_at = 0;   ///< the first call is 1; 0: none fails
  bool for_ever = false;  ///< that call and all later ones
  int error_number = 0;
};

/// Passes every call on, except the one that the plan names. Files and directories must not outlive it.
class FaultyFileSystem final : public FileSystem {
 public:
  explicit FaultyFileSystem(FileSystem& under) : under_(&under) {}

  /// Counts from now: the next call is 1.
  void fail_call(uint64_t number, int error_number, bool for_ever = false) {
    plan_ = {.calls = 0, .fail_at = number, .for_ever = for_ever, .error_number = error_number};
  }
  [[nodiscard]] uint64_t calls() const { return plan_.calls; }

  Result<std::unique_ptr<Directory>> open_directory(const std::string& path) override;
  Status make_directories(const std::string& path) override;

 private:
  FileSystem* under_;
  FaultPlan plan_;
};

/// What a MemoryFileSystem holds. A power cut keeps, of the pages of a file written since its last sync, any; and of
/// the changes of a directory since its last sync, any: file systems promise no order between them.
struct MemoryFile {
  std::vector<std::byte> content;
  std::vector<std::byte> durable;
  std::set<uint64_t> unsynced_pages;
  uint64_t inode = 0;
};
struct MemoryDirectory {
  struct Entry {
    std::shared_ptr<MemoryFile> file;  ///< one of the two is set
    std::shared_ptr<MemoryDirectory> directory;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  /// One name goes, one comes: a rename is both at once. Empty names: neither.
  struct Change {
    std::string gone, come;
    Entry entry;
  };
  Entries entries;
  Entries durable;               ///< as at the last sync
  std::vector<Change> unsynced;  ///< since then
  int64_t changes = 0;
  uint64_t inode = 0;
};

class MemoryFileSystem final : public FileSystem {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  MemoryFileSystem();
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path) override;
  Status make_directories(const std::string& path) override;

  /// Power is cut and comes back. Handles opened before must not be used again.
  void lose_power(uint64_t seed);

 private:
  std::shared_ptr<MemoryDirectory> root_;
};

}  // namespace goodput
