// Strings of a process → 16-bit ids, for custom names, elastic types, locations and causes.
//
// One table serves all writers of the process, so that an id means the same in every segment. Looking up takes no lock
// and no allocation, and may be done in a signal handler.
//
//   const uint16_t id = names.id_of("eval");       // kMoreNames when 65,534 others are in use
//   std::string_view text = names.text_of(id);
//
// Names are never forgotten. Any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "journal/slot.h"

namespace goodput::record {

class NameTable {
 public:
  static constexpr uint32_t kMaxNames = journal::kMoreNames - 1;

  /// nullptr when there is no memory. Reserves addresses; pages become memory as names come.
  static NameTable* make();

  /// Of a text of at most kMaxDefinitionBytes; of an empty one kNoName.
  uint16_t id_of(std::string_view text);
  /// Of an id that id_of() returned; empty for the two that stand for no text.
  [[nodiscard]] std::string_view text_of(uint16_t id) const;

 private:
  /// Twice the names, so that probing stays short.
  static constexpr uint32_t kBuckets = 128 * 1024;
  static constexpr uint32_t kArenaBytes = 16 * 1024 * 1024;

  struct Name {
    uint32_t hash;
    uint16_t id;
    uint16_t length;
    [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), length}; }
  };

  Name* make_name(std::string_view text, uint32_t hash);

  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> arena_used_{0};
  std::atomic<Name*> buckets_[kBuckets];
  std::atomic<Name*> by_id_[kMaxNames + 1];
  alignas(8) char arena_[kArenaBytes];
};

}  // namespace goodput::record
