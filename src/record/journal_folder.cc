// SPDX-License-Identifier: Apache-2.0
#include "record/journal_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>

#include "journal/folder_names.h"
#include "record/system_calls.h"

namespace goodput::record {
namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY;

/// Makes a path and what is missing before it. Links are followed: the user named it.
int make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string head = path.substr(0, end);
    const int error = system_calls.make_folder_at(AT_FDCWD, head.c_str());
    if (end == std::string::npos) return error == EEXIST ? 0 : error;
    // A read-only or foreign folder that is there answers EROFS or EACCES before it answers EEXIST.
    struct stat facts;
    if (error != 0 && error != EEXIST && stat(head.c_str(), &facts) != 0) return error;
  }
}

/// Opens a folder inside another, made if missing; a link is an error.
int open_inside(int above, const std::string& name) {
  const int error = system_calls.make_folder_at(above, name.c_str());
  if (error != 0 && error != EEXIST) return -error;
  return system_calls.open_at(above, name.c_str(), kOpenFolder);
}

/// Owner of an open folder, or -1.
int64_t owner_of(int fd) {
  struct stat facts;
  return system_calls.facts(fd, &facts) == 0 ? static_cast<int64_t>(facts.st_uid) : -1;
}

int take_lock(int folder) {
  const int fd = system_calls.open_at(folder, journal::kLockFile, O_RDWR | O_CREAT);
  if (fd < 0) return fd;
  // Of this kind of lock alone a forked child that outlives us holds nothing.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(fd, F_SETLK, &whole) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

void close_all(std::vector<int>& fds) {
  for (const int fd : fds) close(fd);
  fds.clear();
}

}  // namespace

JournalFolder::~JournalFolder() {
  close_all(above_);
  if (lock_fd_ >= 0) close(lock_fd_);
  if (fd_ >= 0) close(fd_);
}

int JournalFolder::open() {
  if (taken_ >= 0) return open_under(place_.roots[static_cast<size_t>(taken_)]);
  int first_error = ENOENT;
  for (size_t i = 0; i < place_.roots.size(); ++i) {
    const int error = open_under(place_.roots[i]);
    if (error == 0) {
      taken_ = static_cast<int>(i);
      return 0;
    }
    if (i == 0) first_error = error;
  }
  return first_error;
}

int JournalFolder::open_under(const journal::Root& root) {
  if (const int error = make_folders(root.path); error != 0) return error;
  const int root_fd = ::open(root.path.c_str(), kOpenFolder | O_CLOEXEC | (root.in_public_place ? O_NOFOLLOW : 0));
  if (root_fd < 0) return errno;
  std::vector<int> above = {root_fd};
  int error = place_.must_map_in_place && !can_map_in_place(root_fd) ? ENOTSUP : 0;
  for (const std::string& name : {std::string(journal::kLayoutFolder), journal::hash_name(place_.job),
                                  journal::hash_name(place_.run_id), journal::id_name(place_.journal_id)}) {
    if (error != 0) break;
    const int fd = open_inside(above.back(), name);
    if (fd < 0) {
      error = -fd;
    } else {
      above.push_back(fd);
    }
  }
  if (error == 0) {
    // Who we are on this file system (a server may map root to nobody) is told by the folder that nobody else can have
    // made: its name is random.
    const int64_t self = owner_of(above.back());
    for (size_t i = root.in_public_place ? 0 : 1; i < above.size(); ++i) {
      if (owner_of(above[i]) != self) error = EPERM;
    }
  }
  const int folder = above.back();
  above.pop_back();
  if (error == 0) error = adopt(folder, above);
  if (error != 0) {
    close(folder);
    close_all(above);
  }
  return error;
}

int JournalFolder::adopt(int folder, const std::vector<int>& above) {
  int lock_fd = -1;
  if (can_map_in_place(folder)) {
    lock_fd = take_lock(folder);
    if (lock_fd < 0) return -lock_fd;
  }
  if (fd_ < 0) {
    fd_ = folder;
  } else {
    dup3(folder, fd_, O_CLOEXEC);  // the same number, at once: recording threads may be using it
    close(folder);
  }
  if (lock_fd_ >= 0) close(lock_fd_);
  lock_fd_ = lock_fd;
  close_all(above_);
  above_ = above;
  return 0;
}

bool JournalFolder::is_gone() const {
  struct stat facts;
  return fd_ >= 0 && system_calls.facts(fd_, &facts) == 0 && facts.st_nlink == 0;
}

int JournalFolder::sync_names() {
  if (fd_ < 0) return 0;
  int error = system_calls.sync(fd_);
  for (size_t i = above_.size(); i-- > 0 && error == 0;) error = system_calls.sync(above_[i]);
  if (error == 0) close_all(above_);
  return error;
}

void JournalFolder::remove() {
  if (fd_ < 0) return;
  system_calls.remove_at(fd_, journal::kLockFile);
  if (!above_.empty()) unlinkat(above_.back(), journal::id_name(place_.journal_id).c_str(), AT_REMOVEDIR);
}

bool can_map_in_place(int folder_fd) {
  struct statfs facts;
  if (fstatfs(folder_fd, &facts) != 0) return false;
  constexpr auto kXfsMagic = 0x58465342;
  switch (static_cast<uint32_t>(facts.f_type)) {
    case EXT4_SUPER_MAGIC:
    case kXfsMagic:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
      return true;
    default:
      return false;
  }
}

}  // namespace goodput::record
