// Finds the keys that we know among those of a payload.
//
//   const PayloadKeyTable::Entry* entry = payload_key_table().find(name);    // null: not one of ours
//
// The name must be followed by seven bytes that can be read. Immutable, any thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "event/payload_keys.h"
#include "event/value_hash.h"

namespace goodput::event {

class PayloadKeyTable {
 public:
  struct Entry {
    uint64_t hash = 0;  ///< hash_text(name, kKeySeed)
    uint8_t length = 0;
    Key key{};
    char name[46] = {};  ///< and zeros behind it
  };
  static_assert(sizeof(Entry) == 56);

  PayloadKeyTable() {
    for (size_t i = 0; i < kKeys; ++i) {
      Entry entry{.hash = hash_text(kKeyNames[i], kKeySeed),
                  .length = static_cast<uint8_t>(kKeyNames[i].size()),
                  .key = static_cast<Key>(i)};
      std::memcpy(entry.name, kKeyNames[i].data(), kKeyNames[i].size());
      size_t at = slot_of({entry.name, entry.length});
      while (slots_[at].length != 0) at = (at + 1) % kSlots;
      slots_[at] = entry;
    }
  }

  [[nodiscard]] const Entry* find(std::string_view name) const {
    if (name.empty()) return nullptr;
    for (size_t at = slot_of(name); slots_[at].length != 0; at = (at + 1) % kSlots) {
      if (is_named(slots_[at], name)) return &slots_[at];
    }
    return nullptr;
  }

 private:
  static constexpr size_t kSlots = 512;  // 64 keys: hardly ever a second look

  static uint64_t word_at(const char* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  /// The bytes of a word that belong to a name of less than eight.
  static uint64_t short_word(std::string_view name) {
    return word_at(name.data()) & ((uint64_t{1} << (8 * name.size())) - 1);
  }

  /// Of length, first and last bytes: no two of our keys share all three.
  static size_t slot_of(std::string_view name) {
    const bool is_short = name.size() < 8;
    const uint64_t first = is_short ? short_word(name) : word_at(name.data());
    const uint64_t last = is_short ? 0 : word_at(name.data() + name.size() - 8);
    return (((first ^ name.size()) * 0x9E3779B97F4A7C15 + last) * 0xC4CEB9FE1A85EC53) >> 55;
  }

  /// Eight bytes at once, the last eight perhaps again: memcmp() is a call.
  static bool is_named(const Entry& entry, std::string_view name) {
    if (entry.length != name.size()) return false;
    if (name.size() < 8) return short_word(name) == word_at(entry.name);
    uint64_t differences = word_at(name.data() + name.size() - 8) ^ word_at(entry.name + name.size() - 8);
    for (size_t i = 0; i + 8 < name.size(); i += 8) differences |= word_at(name.data() + i) ^ word_at(entry.name + i);
    return differences == 0;
  }

  std::array<Entry, kSlots> slots_;
};

inline const PayloadKeyTable& payload_key_table() {
  static const PayloadKeyTable table;
  return table;
}

}  // namespace goodput::event
