// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/file_system.h"

namespace goodput::cli {
namespace {

constexpr mode_t kPermissions = 0666;  // less the umask, as of any file that a command makes

/// What a link leads to: the link stays, its target is replaced.
std::string behind_links(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path target = std::filesystem::canonical(path, failed);
  return failed ? path : target.string();
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path, FILE* standard) {
  if (path.empty()) return OutputFile(standard, "", "");
  const std::string target = behind_links(path);
  struct stat facts {};
  const bool in_place = stat(target.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
  const std::string beside = in_place ? "" : target + "." + std::to_string(getpid()) + ".partial";
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (in_place ? 0 : O_EXCL);
  const int descriptor = ::open(in_place ? target.c_str() : beside.c_str(), flags, kPermissions);
  if (descriptor < 0) return error_status("writing", path, errno);
  FILE* file = fdopen(descriptor, "wb");
  if (file == nullptr) {
    close(descriptor);
    return error_status("writing", path, ENOMEM);
  }
  return OutputFile(file, target, beside);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      path_(std::move(other.path_)),
      beside_(std::move(other.beside_)),
      error_(other.error_),
      bytes_(other.bytes_) {}

OutputFile::~OutputFile() {
  if (file_ == nullptr || is_standard()) return;
  std::fclose(file_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (has_failed() || text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno == 0 ? EIO : errno;
  bytes_ += static_cast<int64_t>(text.size());
}

Status OutputFile::finish() {
  if (!has_failed() && std::fflush(file_) != 0) error_ = errno;
  if (!is_standard()) {
    if (!has_failed() && !beside_.empty() && fsync(fileno(file_)) != 0) error_ = errno;
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && !has_failed()) error_ = errno;
    if (!has_failed() && !beside_.empty() && std::rename(beside_.c_str(), path_.c_str()) != 0) error_ = errno;
    if (has_failed() && !beside_.empty()) unlink(beside_.c_str());
  }
  if (!has_failed()) return {};
  if (error_ == EPIPE) return Status(StatusCode::kUnavailable, "writing: the reader has closed the pipe");
  return error_status("writing", is_standard() ? "standard output" : path_, error_);
}

}  // namespace goodput::cli
