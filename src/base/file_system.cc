// SPDX-License-Identifier: Apache-2.0
#include "base/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/patience.h"

namespace goodput {
namespace {

// Not in linux/magic.h of every kernel that we build on.
constexpr unsigned long kXfsMagic = 0x58465342;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

template <typename Call>
auto retry(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

FileFacts facts_of(const struct stat& raw) {
  FileFacts facts;
  facts.size_bytes = static_cast<uint64_t>(raw.st_size);
  facts.modified_ns = int64_t{raw.st_mtim.tv_sec} * 1'000'000'000 + raw.st_mtim.tv_nsec;
  facts.inode = raw.st_ino;
  facts.device = raw.st_dev;
  facts.links = raw.st_nlink;
  facts.owner = raw.st_uid;
  facts.permissions = raw.st_mode & 0777;
  facts.type = S_ISREG(raw.st_mode)   ? FileType::kFile
               : S_ISDIR(raw.st_mode) ? FileType::kDirectory
               : S_ISLNK(raw.st_mode) ? FileType::kLink
                                      : FileType::kOther;
  return facts;
}

Result<FileFacts> facts_of_descriptor(int descriptor, std::string_view name) {
  struct stat raw;
  if (fstat(descriptor, &raw) != 0) return error_status("looking at", name, errno);
  return facts_of(raw);
}

class PosixFile final : public File {
 public:
  PosixFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) const override {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = retry([&] {
        return pread(descriptor_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      });
      if (got < 0) return error_status("reading", name_, errno);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  Status write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t put = retry([&] {
        return pwrite(descriptor_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
      });
      if (put < 0) return error_status("writing", name_, errno);
      done += static_cast<size_t>(put);
    }
    return {};
  }

  Status sync() override {
    if (retry([&] { return fdatasync(descriptor_.get()); }) != 0) return error_status("syncing", name_, errno);
    return {};
  }

  [[nodiscard]] Result<FileFacts> facts() const override { return facts_of_descriptor(descriptor_.get(), name_); }

  Status lock() override {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (retry([&] { return fcntl(descriptor_.get(), F_SETLK, &whole); }) == 0) return {};
    if (errno == EAGAIN || errno == EACCES) {
      return Status(StatusCode::kUnavailable, "locking " + name_ + ": another process holds it");
    }
    return error_status("locking", name_, errno);
  }

 private:
  Descriptor descriptor_;
  std::string name_;
};

bool is_single_component(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Status not_a_component(std::string_view name) {
  return Status(StatusCode::kInvalidArgument, "\"" + std::string(name) + "\" is not the name of one file");
}

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  Result<std::unique_ptr<File>> open_file(std::string_view name, Access access) override {
    if (!is_single_component(name)) return not_a_component(name);
    // O_NONBLOCK: a pipe that somebody put here must not hang us; on regular files it means nothing.
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    flags |= access == Access::kRead ? O_RDONLY : O_RDWR;
    if (access == Access::kCreate) flags |= O_CREAT | O_EXCL;
    const std::string path(name);
    const int descriptor = retry([&] { return openat(descriptor_.get(), path.c_str(), flags, 0600); });
    if (descriptor < 0) return error_status("opening", joined(name), errno);
    auto file = std::make_unique<PosixFile>(descriptor, joined(name));
    Result<FileFacts> facts = file->facts();
    if (!facts.ok()) return facts.status();
    if (facts->type != FileType::kFile) {
      return Status(StatusCode::kUnreadable, "opening " + joined(name) + ": not a regular file");
    }
    return std::unique_ptr<File>(std::move(file));
  }

  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override {
    if (!is_single_component(name)) return not_a_component(name);
    const std::string path(name);
    const int descriptor =
        retry([&] { return openat(descriptor_.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); });
    if (descriptor < 0) return error_status("opening", joined(name), errno);
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(descriptor, joined(name)));
  }

  Status make_directory(std::string_view name) override {
    if (!is_single_component(name)) return not_a_component(name);
    if (mkdirat(descriptor_.get(), std::string(name).c_str(), 0700) != 0) {
      return error_status("making", joined(name), errno);
    }
    return {};
  }

  Status rename(std::string_view from, std::string_view to) override {
    if (!is_single_component(from)) return not_a_component(from);
    if (!is_single_component(to)) return not_a_component(to);
    if (renameat(descriptor_.get(), std::string(from).c_str(), descriptor_.get(), std::string(to).c_str()) != 0) {
      return error_status("renaming", joined(from), errno);
    }
    return {};
  }

  Status remove_file(std::string_view name) override { return remove(name, 0); }
  Status remove_directory(std::string_view name) override { return remove(name, AT_REMOVEDIR); }

  Result<std::vector<std::string>> list() override {
    // A descriptor of its own: the position in a listing belongs to the descriptor, and closedir() closes it.
    const int descriptor = retry([&] { return openat(descriptor_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (descriptor < 0) return error_status("listing", name_, errno);
    DIR* stream = fdopendir(descriptor);
    if (stream == nullptr) {
      const int error_number = errno;
      close(descriptor);
      return error_status("listing", name_, error_number);
    }
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error_number = errno;
    closedir(stream);
    if (error_number != 0) return error_status("listing", name_, error_number);
    return names;
  }

  [[nodiscard]] Result<FileFacts> facts(std::string_view name) override {
    if (!is_single_component(name)) return not_a_component(name);
    struct stat raw;
    if (fstatat(descriptor_.get(), std::string(name).c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0) {
      return error_status("looking at", joined(name), errno);
    }
    return facts_of(raw);
  }
  [[nodiscard]] Result<FileFacts> facts() override { return facts_of_descriptor(descriptor_.get(), name_); }

  Status sync() override {
    if (retry([&] { return fsync(descriptor_.get()); }) != 0) return error_status("syncing", name_, errno);
    return {};
  }

  [[nodiscard]] bool is_local() override {
    struct statfs raw;
    if (fstatfs(descriptor_.get(), &raw) != 0) return false;
    switch (static_cast<unsigned long>(raw.f_type)) {
      case EXT4_SUPER_MAGIC:
      case kXfsMagic:
      case TMPFS_MAGIC:
      case OVERLAYFS_SUPER_MAGIC:
        return true;
      default:
        return false;
    }
  }

 private:
  [[nodiscard]] std::string joined(std::string_view name) const { return name_ + "/" + std::string(name); }

  Status remove(std::string_view name, int flags) {
    if (!is_single_component(name)) return not_a_component(name);
    if (unlinkat(descriptor_.get(), std::string(name).c_str(), flags) != 0) {
      return error_status("removing", joined(name), errno);
    }
    return {};
  }

  Descriptor descriptor_;
  std::string name_;
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path) override {
    const int descriptor = retry([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (descriptor < 0) return error_status("opening", path, errno);
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(descriptor, path));
  }

  Status make_directories(const std::string& path) override {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string prefix = path.substr(0, end);
      if (mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST) {
        const int error_number = errno;
        struct stat raw;  // mkdir may say "read-only" or "no permission" of a folder that is there
        if (stat(prefix.c_str(), &raw) != 0) return error_status("making", prefix, error_number);
      }
      if (end == std::string::npos) return {};
    }
  }
};

Status write_scratch(Directory& directory, std::string_view name, std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file, directory.open_file(name, Access::kCreate));
  RETURN_IF_ERROR(file->write_at(0, bytes));
  return file->sync();
}

}  // namespace

FileSystem& posix_file_system() {
  static PosixFileSystem file_system;
  return file_system;
}

Result<std::unique_ptr<Directory>> directory_of(int descriptor, const std::string& name) {
  const int own = retry([&] { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); });
  if (own < 0) return error_status("using", name, errno);
  return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(own, name));
}

Status error_status(std::string_view doing, std::string_view name, int error_number) {
  StatusCode code = StatusCode::kUnreadable;
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      code = StatusCode::kNotFound;
      break;
    case EEXIST:
    case ENOTEMPTY:
      code = StatusCode::kAlreadyExists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:  // a link where none may be
      code = StatusCode::kPermissionDenied;
      break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      code = StatusCode::kNoSpace;
      break;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      code = StatusCode::kUnavailable;
      break;
    default:
      break;
  }
  char text[128];
  std::string message(doing);
  message.append(" ").append(name).append(": ").append(strerror_r(error_number, text, sizeof text));
  return Status(code, std::move(message));
}

Result<std::vector<std::byte>> read_whole_file(Directory& directory, std::string_view name, uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file, directory.open_file(name, Access::kRead));
  ASSIGN_OR_RETURN(const FileFacts facts, file->facts());
  if (facts.size_bytes > limit_bytes) {
    return Status(StatusCode::kUnsupported,
                  "reading " + std::string(name) + ": longer than " + std::to_string(limit_bytes) + " bytes");
  }
  std::vector<std::byte> bytes(facts.size_bytes);
  ASSIGN_OR_RETURN(const size_t got, file->read_at(0, bytes));
  bytes.resize(got);
  return bytes;
}

Result<std::unique_ptr<Directory>> open_or_make_directory(Directory& above, std::string_view name) {
  const Status made = above.make_directory(name);
  if (!made.ok() && made.code() != StatusCode::kAlreadyExists) return made;
  return above.open_directory(name);
}

Result<std::unique_ptr<File>> open_or_make_file(Directory& directory, std::string_view name) {
  Result<std::unique_ptr<File>> file = directory.open_file(name, Access::kReadWrite);
  if (file.status().code() == StatusCode::kNotFound) file = directory.open_file(name, Access::kCreate);
  // Somebody else has made it meanwhile.
  if (file.status().code() == StatusCode::kAlreadyExists) file = directory.open_file(name, Access::kReadWrite);
  return file;
}

Status lock_within(File& file, int64_t patience_ns) {
  constexpr int64_t kLookNs = 20'000'000;
  for (int64_t left_ns = patience_ns;; left_ns -= kLookNs) {
    Status locked = file.lock();
    if (locked.code() != StatusCode::kUnavailable || left_ns <= 0) return locked;
    (void)wait(std::min(left_ns, kLookNs), nullptr);
  }
}

Status replace_file(Directory& directory, std::string_view name, std::string_view scratch_name,
                    std::span<const std::byte> bytes) {
  if (Status removed = directory.remove_file(scratch_name); !removed.ok() && removed.code() != StatusCode::kNotFound) {
    return removed;
  }
  if (Status written = write_scratch(directory, scratch_name, bytes); !written.ok()) {
    // On a full disk what was written of it would keep others from writing; the failure that counts is the first.
    (void)directory.remove_file(scratch_name);
    return written;
  }
  RETURN_IF_ERROR(directory.rename(scratch_name, name));
  return directory.sync();
}

}  // namespace goodput
