// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_entries.h"

#include <array>
#include <cstdio>

#include "base/time_text.h"

namespace goodput::store {

uint64_t job_hash(std::string_view job, std::string_view run_id) {
  // FNV-1a of both with a byte between that neither holds in UTF-8.
  uint64_t hash = 0xcbf29ce484222325ULL;
  const auto take = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  };
  take(job);
  take("\xFF");
  take(run_id);
  return hash;
}

std::string insert_id(const event::Event& event, uint64_t job_hash) {
  std::array<char, 64> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%016llx%016llx-%016llx", static_cast<unsigned long long>(event.position.major),
      static_cast<unsigned long long>(event.position.minor), static_cast<unsigned long long>(job_hash));
  return {text.data(), static_cast<size_t>(size)};
}

EntryBatch::EntryBatch(std::string_view job, std::string_view run_id, std::string opening)
    : writer_(job), job_hash_(job_hash(job, run_id)), opening_(std::move(opening)) {}

EntryBatch::Added EntryBatch::add(const event::Event& event) {
  // Of an imported log the place is a number, not a time: then the event's own stands for when it was recorded.
  const auto recorded_ns = static_cast<int64_t>(event.position.major);
  const int64_t timestamp_ns = recorded_ns > 0 ? recorded_ns : event.time_ns;
  entry_ = R"({"severity":"INFO","timestamp":")" + format_time_ns(timestamp_ns) + R"(","insertId":")" +
           insert_id(event, job_hash_) + R"(","jsonPayload":)";
  writer_.append(entry_, event);
  entry_ += '}';
  if (entry_.size() > kMaxEntryBytes) return Added::kTooLong;
  const size_t bytes = opening_.size() + entries_.size() + entry_.size() + 3;
  if (count_ == kMaxEntries || bytes > kMaxRequestBytes) return Added::kFull;
  if (count_++ > 0) entries_ += ',';
  entries_ += entry_;
  return Added::kYes;
}

void EntryBatch::clear() {
  entries_.clear();
  count_ = 0;
}

}  // namespace goodput::store
