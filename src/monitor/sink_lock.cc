// SPDX-License-Identifier: Apache-2.0
#include "monitor/sink_lock.h"

#include <fmt/format.h>

#include <array>

#include "base/http_client.h"
#include "journal/folder_names.h"
#include "monitor/kept_folder.h"

namespace goodput::monitor {
namespace {

// Its owner stands in the first bytes, padded with blanks: a file cannot be made shorter through the seam.
constexpr size_t kOwnerBytes = 256;

std::string owner_in(const File& file) {
  std::array<char, kOwnerBytes> text{};
  const Result<size_t> got = file.read_at(0, std::as_writable_bytes(std::span(text)));
  const std::string_view words(text.data(), got.ok() ? *got : 0);
  const size_t end = words.find_last_not_of(' ');
  return end == std::string_view::npos ? "another process" : std::string(words.substr(0, end + 1));
}

Result<std::unique_ptr<File>> lock_in(Directory* kept, std::string_view sink, std::string_view owner) {
  if (kept == nullptr) return std::unique_ptr<File>();
  const std::string name = "sink-" + journal::hash_name(sink);
  Result<std::unique_ptr<File>> file = open_or_make_file(*kept, name);
  if (!file.ok()) return std::unique_ptr<File>();
  const Status locked = (*file)->lock();
  if (locked.code() == StatusCode::kUnavailable) {
    return Status(StatusCode::kAlreadyExists,
                  fmt::format("exporting to {}: {} already does", without_credentials(sink), owner_in(**file)));
  }
  if (!locked.ok()) return std::unique_ptr<File>();
  const std::string words = fmt::format("{:<{}}", owner.substr(0, kOwnerBytes), kOwnerBytes);
  (void)(*file)->write_at(0, std::as_bytes(std::span(words)));
  return std::move(file).value();
}

}  // namespace

Result<std::unique_ptr<File>> lock_sink(journal::JobLog& log, std::string_view sink, std::string_view owner) {
  return lock_in(kept_folder(log), sink, owner);
}

std::shared_ptr<SinkLocks> SinkLocks::open(journal::JobLog& log, std::string owner) {
  return std::shared_ptr<SinkLocks>(new SinkLocks(own_kept_folder(log), std::move(owner)));
}

Status SinkLocks::take(const std::string& sink) {
  // To open a file that is locked already, and to close it, would let go of it.
  if (held_.contains(sink)) return {};
  ASSIGN_OR_RETURN(held_[sink], lock_in(folder_.get(), sink, owner_));
  return {};
}

}  // namespace goodput::monitor
