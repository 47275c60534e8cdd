// SPDX-License-Identifier: Apache-2.0
#include "gcp/read_text_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace goodput::gcp {

Result<std::string> read_text_file(const std::string& path, const std::string& doing) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) {
    const StatusCode code = errno == ENOENT   ? StatusCode::kNotFound
                            : errno == EACCES ? StatusCode::kPermissionDenied
                                              : StatusCode::kUnreadable;
    return Status(code, doing + ": " + std::strerror(errno));
  }
  constexpr size_t kMostBytes = 1 << 20;
  std::string text(kMostBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return Status(StatusCode::kUnreadable, doing + ": " + std::strerror(errno));
  if (text.size() > kMostBytes) return Status(StatusCode::kUnreadable, doing + ": it is longer than 1 MiB");
  return text;
}

}  // namespace goodput::gcp
