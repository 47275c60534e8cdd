// SPDX-License-Identifier: Apache-2.0
#include "monitor/sink_memory.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/checksum.h"
#include "journal/cache_file.h"
#include "journal/folder_names.h"
#include "monitor/kept_folder.h"

namespace goodput::monitor {
namespace {

constexpr uint64_t kMostBytes = 16 << 20;

}  // namespace

std::unique_ptr<SinkMemory> SinkMemory::open(journal::JobLog& log, std::string_view sink) {
  std::unique_ptr<Directory> folder = own_kept_folder(log);
  if (folder == nullptr) return nullptr;
  return std::unique_ptr<SinkMemory>(new SinkMemory(std::move(folder), "told-" + journal::hash_name(sink)));
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
