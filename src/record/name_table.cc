// SPDX-License-Identifier: Apache-2.0
#include "record/name_table.h"

#include <sys/mman.h>

#include <cstring>

#include "base/checksum.h"

namespace goodput::record {

NameTable* NameTable::make() {
  void* memory =
      mmap(nullptr, sizeof(NameTable), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<NameTable*>(memory);  // all zero is an empty table
}

NameTable::Name* NameTable::make_name(std::string_view text, uint32_t hash) {
  const auto bytes = static_cast<uint32_t>((sizeof(Name) + text.size() + 7) / 8 * 8);
  if (arena_used_.load(std::memory_order_relaxed) + bytes > kArenaBytes) return nullptr;
  const uint32_t at = arena_used_.fetch_add(bytes, std::memory_order_relaxed);
  if (at + bytes > kArenaBytes || count_.load(std::memory_order_relaxed) >= kMaxNames) return nullptr;
  const uint32_t id = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (id > kMaxNames) return nullptr;
  auto* name = reinterpret_cast<Name*>(arena_ + at);
  name->hash = hash;
  name->id = static_cast<uint16_t>(id);
  name->length = static_cast<uint16_t>(text.size());
  std::memcpy(arena_ + at + sizeof(Name), text.data(), text.size());
  by_id_[id].store(name, std::memory_order_release);
  return name;
}

uint16_t NameTable::id_of(std::string_view text) {
  if (text.empty()) return journal::kNoName;
  const uint32_t hash = crc32c({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  Name* mine = nullptr;
  for (uint32_t i = hash % kBuckets;; i = (i + 1) % kBuckets) {
    Name* found = buckets_[i].load(std::memory_order_acquire);
    if (found == nullptr) {
      if (mine == nullptr) mine = make_name(text, hash);
      if (mine == nullptr) return journal::kMoreNames;
      if (buckets_[i].compare_exchange_strong(found, mine, std::memory_order_acq_rel)) return mine->id;
      // Somebody was faster; if it was with the same text, ours stays unused.
    }
    if (found->hash == hash && found->text() == text) return found->id;
  }
}

std::string_view NameTable::text_of(uint16_t id) const {
  if (id == journal::kNoName || id == journal::kMoreNames) return {};
  const Name* name = by_id_[id].load(std::memory_order_acquire);
  return name == nullptr ? std::string_view() : name->text();
}

}  // namespace goodput::record
