// A file or standard input, read from its beginning to its end.
//
//   ASSIGN_OR_RETURN(InputFile input, InputFile::open("events.jsonl"));     // "-" is standard input
//   Result<size_t> got = input.read(buffer);                               // 0 at the end
//
// One thread. Failures are kPermissionDenied or kUnreadable, with what was being done to which file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace goodput::importers {

class InputFile {
 public:
  /// Refuses directories.
  static Result<InputFile> open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Reads at least one byte unless the file is at its end; 0 then.
  Result<size_t> read(std::span<char> into);

  /// As messages name it.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Bytes in all; 0 when that cannot be known (a pipe).
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] uint64_t bytes_read() const { return bytes_read_; }

 private:
  InputFile(int fd, std::string name, uint64_t size) : fd_(fd), name_(std::move(name)), size_(size) {}

  int fd_;
  std::string name_;
  uint64_t size_;
  uint64_t bytes_read_ = 0;
};

}  // namespace goodput::importers
