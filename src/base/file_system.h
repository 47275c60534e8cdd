// The seam to the operating system's files: everything outside the recorder's hot path that touches a disk goes through
// it.
//
// A Directory is a handle; what lies in it is named by single components, and a symbolic link inside is an error, never
// followed: a path that somebody else rearranges while we walk cannot lead out of the folder. Only the path given to
// FileSystem::open_directory, which the user named, may contain links.
//
//   Result<std::unique_ptr<Directory>> folder = posix_file_system().open_directory("/var/lib/goodput");
//   Result<std::unique_ptr<File>> file = (*folder)->open_file("index", Access::kRead);
//   Result<size_t> got = (*file)->read_at(0, buffer);         // short only at the file's end
//   Status renamed = (*folder)->rename("index.tmp", "index"); // replaces
//   Status durable = (*folder)->sync();                       // names survive a power cut from here on
//
// Calls block as the system's do, retry EINTR, and may be made from any thread; one File is used by one thread at a
// time. Failures are a Status that names the file and what the system said; kNoSpace, kNotFound, kAlreadyExists and
// kPermissionDenied are told apart. Tests use base/fault_file_system.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace goodput {

enum class FileType : uint8_t { kFile, kDirectory, kLink, kOther };

struct FileFacts {
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;  ///< wall time as the file system keeps it
  uint64_t inode = 0;
  uint64_t device = 0;
  uint64_t links = 0;
  uint32_t owner = 0;        ///< user id
  uint32_t permissions = 0;  ///< the nine bits
  FileType type = FileType::kOther;
};

enum class Access : uint8_t {
  kRead,
  kReadWrite,
  kCreate,  ///< read and write a file that must not exist yet; permissions 0600
};

/// An open regular file; closed by its destructor.
class File {
 public:
  virtual ~File() = default;

  /// Fills `into` from `offset`; returns fewer bytes only where the file ends.
  virtual Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) const = 0;
  /// Writes all of `bytes` at `offset`, or fails with some prefix written.
  virtual Status write_at(uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// fdatasync. A failure means that what was written since the last success may be lost: write it anew elsewhere.
  virtual Status sync() = 0;
  [[nodiscard]] virtual Result<FileFacts> facts() const = 0;
  /// Takes the whole file's write lock (F_SETLK), kUnavailable when another process has it. Held until *any* descriptor
  /// of the file in this process closes or the process ends; two holders in one process do not exclude each other.
  virtual Status lock() = 0;
};

class Directory {
 public:
  virtual ~Directory() = default;

  virtual Result<std::unique_ptr<File>> open_file(std::string_view name, Access access) = 0;
  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view name) = 0;
  /// Permissions 0700. kAlreadyExists when there is anything of that name.
  virtual Status make_directory(std::string_view name) = 0;
  /// Replaces `to`. Atomic for everybody who looks; durable after sync().
  virtual Status rename(std::string_view from, std::string_view to) = 0;
  virtual Status remove_file(std::string_view name) = 0;
  virtual Status remove_directory(std::string_view name) = 0;
  /// Names in no order, "." and ".." left out. While others rename, a name that is there may be missing (ext4: one
  /// listing in twelve, tmpfs: most): probe for names that can be computed.
  virtual Result<std::vector<std::string>> list() = 0;
  /// Of an entry, links not followed.
  [[nodiscard]] virtual Result<FileFacts> facts(std::string_view name) = 0;
  [[nodiscard]] virtual Result<FileFacts> facts() = 0;  ///< of the directory itself
  virtual Status sync() = 0;
  /// False on network and copy-on-write file systems: there a lock proves nothing and a mapped store may kill its
  /// writer.
  [[nodiscard]] virtual bool is_local() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<Directory>> open_directory(const std::string& path) = 0;
  /// Makes the last component, and missing ones before it, with permissions 0700; succeeds when it is there.
  virtual Status make_directories(const std::string& path) = 0;
};

/// The real one. Lives as long as the process.
FileSystem& posix_file_system();

/// A folder that is open already, for those who hold a descriptor of it: the descriptor stays theirs, `name` is for
/// messages.
Result<std::unique_ptr<Directory>> directory_of(int descriptor, const std::string& name);

/// A failure as a Status: "opening index: Permission denied". `error_number` is errno's.
Status error_status(std::string_view doing, std::string_view name, int error_number);

/// Convenience over the seam: the whole of a file of at most `limit_bytes` (kUnsupported when it is longer).
Result<std::vector<std::byte>> read_whole_file(Directory& directory, std::string_view name, uint64_t limit_bytes);

/// What is there of that name, or made: a folder; a file to read and write.
Result<std::unique_ptr<Directory>> open_or_make_directory(Directory& above, std::string_view name);
Result<std::unique_ptr<File>> open_or_make_file(Directory& directory, std::string_view name);
/// As File::lock(), but waits for another process: kUnavailable when it still has the lock after `patience_ns`.
Status lock_within(File& file, int64_t patience_ns);

/// Replaces `name` by `bytes` so that a reader, and a power cut, sees the old or the new content whole: written beside,
/// synced, renamed, folder synced. `scratch_name` is overwritten.
Status replace_file(Directory& directory, std::string_view name, std::string_view scratch_name,
                    std::span<const std::byte> bytes);

}  // namespace goodput
