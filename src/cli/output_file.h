// Where a command writes what is too long to hold: standard output, or a file that appears whole or not at all.
//
//   Result<OutputFile> output = OutputFile::open(options.output, context.out);
//   if (!output.ok()) return context.fail("export", output.status());
//   output->write(text); …
//   const Status written = output->finish();
//
// A file is written beside and renamed when it is finished; what is no regular file (a pipe, a device) is written in
// place. After a failure everything else is dropped, and finish() tells of it. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::cli {

class OutputFile {
 public:
  /// `path` empty: `standard`, which stays its owner's.
  static Result<OutputFile> open(const std::string& path, FILE* standard);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  ///< unless it was finished, nothing remains

  void write(std::string_view text);
  /// Nobody reads any more (a closed pipe), or the disk is full: there is no use in going on.
  [[nodiscard]] bool has_failed() const { return error_ != 0; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  /// kUnavailable: the reader has closed the pipe, which is nothing to complain of.
  Status finish();

 private:
  OutputFile(FILE* file, std::string path, std::string beside)
      : file_(file), path_(std::move(path)), beside_(std::move(beside)) {}
  [[nodiscard]] bool is_standard() const { return path_.empty(); }

  FILE* file_;
  std::string path_;    ///< empty: standard output
  std::string beside_;  ///< empty: written in place
  int error_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace goodput::cli
