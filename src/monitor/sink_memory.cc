// SPDX-License-Identifier: Apache-2.0
#include "monitor/sink_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/checksum.h"
#include "base/host_name.h"
#include "journal/cache_file.h"
#include "journal/folder_names.h"
#include "monitor/own_folder.h"

namespace goodput::monitor {
namespace {

constexpr uint64_t kMostBytes = 16 << 20;

std::string read_text(const File& file) {
  std::array<std::byte, 512> text{};
  const Result<size_t> got = file.read_at(0, text);
  return got.ok() ? std::string(reinterpret_cast<const char*>(text.data()), *got) : "";
}

/// Padded, so that nothing is left of a longer one.
void write_owner(File& file, std::string_view owner) {
  const std::string words =
      fmt::format("{:<255}\n", fmt::format("{} (process {} on {})", owner, getpid(), host_name()));
  (void)file.write_at(0, std::as_bytes(std::span(words)));
}

/// A folder of the run that is ours, and in it the one of what readers keep.
std::unique_ptr<Directory> own_folder(journal::JobLog& log) {
  for (Directory* folder : log.run_folders()) {
    if (!is_ours_alone(*folder) || !log.make_kept(*folder).ok()) continue;
    Result<std::unique_ptr<Directory>> kept = folder->open_directory(journal::kKeptFolder);
    if (kept.ok() && is_ours_alone(**kept)) return std::move(kept).value();
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<SinkMemory>> SinkMemory::open(journal::JobLog& log, std::string_view sink,
                                                     std::string_view owner) {
  std::unique_ptr<Directory> folder = own_folder(log);
  if (folder == nullptr) return std::unique_ptr<SinkMemory>();
  const std::string file = "sink-" + journal::hash_name(sink);
  const std::string lock_name = file + ".lock";
  Result<std::unique_ptr<File>> lock = folder->open_file(lock_name, Access::kReadWrite);
  if (!lock.ok()) lock = folder->open_file(lock_name, Access::kCreate);
  if (!lock.ok()) return std::unique_ptr<SinkMemory>();
  if (!(*lock)->lock().ok()) {
    std::string other = read_text(**lock);
    other.erase(other.find_last_not_of(" \n") + 1);
    return Status(StatusCode::kAlreadyExists,
                  fmt::format("exporting to {}: {} already does", sink, other.empty() ? "another process" : other));
  }
  write_owner(**lock, owner);
  return std::unique_ptr<SinkMemory>(new SinkMemory(std::move(folder), std::move(lock).value(), file));
}

/// The checksum of what follows it comes first.
std::string SinkMemory::recall() const {
  const auto bytes = read_whole_file(*folder_, file_, kMostBytes);
  uint32_t sum = 0;
  if (!bytes.ok() || bytes->size() < sizeof(sum)) return "";
  std::memcpy(&sum, bytes->data(), sizeof(sum));
  const auto rest = std::span(*bytes).subspan(sizeof(sum));
  if (crc32c(rest) != sum) return "";
  return {reinterpret_cast<const char*>(rest.data()), rest.size()};
}

Status SinkMemory::keep(std::string_view bytes) {
  const uint32_t sum = crc32c(std::as_bytes(std::span(bytes)));
  std::string whole(sizeof(sum), '\0');
  std::memcpy(whole.data(), &sum, sizeof(sum));
  whole += bytes;
  return journal::replace_cache_file(*folder_, file_, std::as_bytes(std::span(whole)));
}

}  // namespace goodput::monitor
