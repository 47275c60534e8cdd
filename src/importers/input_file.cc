// SPDX-License-Identifier: Apache-2.0
#include "importers/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace goodput::importers {
namespace {

Status failure(const std::string& doing, int error) {
  const StatusCode code = error == EACCES || error == EPERM ? StatusCode::kPermissionDenied : StatusCode::kUnreadable;
  return {code, doing + ": " + std::strerror(error)};
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "standard input" : path;
  const int fd = standard_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure("opening " + name, errno);
  InputFile file(fd, name, 0);
  struct stat about {};
  if (::fstat(fd, &about) != 0) return failure("opening " + name, errno);
  if (S_ISDIR(about.st_mode)) return failure("reading " + name, EISDIR);
  if (S_ISREG(about.st_mode)) file.size_ = static_cast<uint64_t>(about.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      size_(other.size_),
      bytes_read_(other.bytes_read_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<size_t> InputFile::read(std::span<char> into) {
  ssize_t got = 0;
  do {
    got = ::read(fd_, into.data(), into.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return failure("reading " + name_, errno);
  bytes_read_ += static_cast<uint64_t>(got);
  return static_cast<size_t>(got);
}

}  // namespace goodput::importers
