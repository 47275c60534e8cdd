// The custom event names that are kept apart: upper-cased, the first 256 in time order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/time_class.h"

namespace goodput::ledger {

/// The identity of a text: equal for equal texts, different for others but for one chance in 2^64.
[[nodiscard]] uint64_t identity_of(std::string_view text);

/// A custom event's name: pairs are made by the identity of its upper case, totals kept by the index.
struct CustomName {
  uint64_t identity = 0;
  uint16_t index = kMoreCustomNames;
};

/// Not thread-safe. Grows to 256 names and no further; a cache of recently seen spellings is bounded too.
class Names {
 public:
  /// The name as first seen by whoever walks the log in time order.
  CustomName find_or_add(std::string_view written);

  /// Whether `written` stands in the table, or would be new to one that is full (and so change who is kept apart).
  [[nodiscard]] bool known(std::string_view written) const;
  [[nodiscard]] bool full() const { return kept_.size() == kMaxCustomNames; }
  [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }
  [[nodiscard]] std::string_view text(uint16_t index) const {
    return index < kept_.size() ? std::string_view(kept_[index]) : kMoreCustomName;
  }
  void restore(std::vector<std::string> kept);

 private:
  std::vector<std::string> kept_;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename Value>
  using Map = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  Map<uint16_t> index_of_;
  Map<CustomName> spellings_;
};

}  // namespace goodput::ledger
