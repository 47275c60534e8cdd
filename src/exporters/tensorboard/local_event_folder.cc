// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/local_event_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/host_name.h"
#include "exporters/tensorboard/read_records.h"

namespace goodput::exporters {
namespace {

/// What a folder refuses now it may take later.
Status refused(std::string_view doing, std::string_view name, int error_number) {
  return {StatusCode::kUnavailable, error_status(doing, name, error_number).message()};
}

}  // namespace

Result<std::unique_ptr<LocalEventFolder>> LocalEventFolder::open(const std::string& path, const std::string& owner) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return refused("making the TensorBoard folder", path, failed.value());
  const std::string lock_path = path + "/.goodput.lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return refused("opening", lock_path, errno);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  // Of the open file, not of the process: two exporters of one process exclude each other too.
  // Where a file system has no locks there is none to hold.
  if (fcntl(lock, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
    char other[256] = {};
    const ssize_t got = ::pread(lock, other, sizeof(other) - 1, 0);
    ::close(lock);
    return Status(StatusCode::kAlreadyExists, fmt::format("writing to the TensorBoard folder {}: {} already does", path,
                                                          got > 0 ? other : "another process"));
  }
  const std::string words = fmt::format("{} (process {} on {})", owner, getpid(), host_name());
  if (ftruncate(lock, 0) == 0) (void)!::pwrite(lock, words.data(), words.size(), 0);
  return std::unique_ptr<LocalEventFolder>(new LocalEventFolder(path, lock));
}

LocalEventFolder::~LocalEventFolder() {
  if (file_ >= 0) ::close(file_);
  ::close(lock_);
}

Status LocalEventFolder::read_back(VisitRecord visit) {
  std::vector<std::pair<int64_t, std::filesystem::path>> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(path_, failed)) {
    const int64_t seconds = event_file_seconds(entry.path().filename().string());
    if (seconds > 0) files.emplace_back(seconds, entry.path());
  }
  std::sort(files.begin(), files.end());
  if (!files.empty()) newest_file_seconds_ = files.back().first;
  for (const auto& [seconds, path] : files) read_records(path.string(), visit);
  return {};
}

Status LocalEventFolder::open_file() {
  const std::string name = event_file_name(wall_time_ns(), newest_file_seconds_);
  const std::string path = path_ + "/" + name;
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) return refused("making", path, errno);
  newest_file_seconds_ = event_file_seconds(name);
  return {};
}

Status LocalEventFolder::append(std::string& unwritten) {
  if (file_ < 0) RETURN_IF_ERROR(open_file());
  while (!unwritten.empty()) {
    const ssize_t wrote = ::write(file_, unwritten.data(), unwritten.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return refused("appending to", path_, errno);
    unwritten.erase(0, static_cast<size_t>(wrote));
  }
  return {};
}

}  // namespace goodput::exporters
