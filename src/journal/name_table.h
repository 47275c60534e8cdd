// The strings of a segment by id: user-named events, locations, causes.
//
//   NameTable names;
//   names.add(1, "eval");
//   std::string_view text = names[1];      // "" for kNoName, "(MORE)" for kMoreNames, "(LOST 7)" for an id without a
//   text
//
// One thread while it is filled; reading is const. Views are valid until the next add() or the table's end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "journal/slot.h"

namespace goodput::journal {

class NameTable {
 public:
  /// The first text of an id stands: one that comes twice is the same unless it is damaged.
  void add(uint16_t id, std::string_view text) { texts_.try_emplace(id, text); }
  /// Counts it as lost and gives it a text of its own, so that events of different lost names are not taken for one.
  void add_lost(uint16_t id) {
    if (texts_.try_emplace(id, "(LOST " + std::to_string(id) + ")").second) ++lost_;
  }

  [[nodiscard]] bool contains(uint16_t id) const { return id == kNoName || id == kMoreNames || texts_.contains(id); }
  [[nodiscard]] std::string_view operator[](uint16_t id) const {
    if (id == kNoName) return {};
    if (id == kMoreNames) return "(MORE)";
    const auto found = texts_.find(id);
    return found == texts_.end() ? std::string_view() : std::string_view(found->second);
  }

  [[nodiscard]] uint64_t lost() const { return lost_; }
  [[nodiscard]] const std::map<uint16_t, std::string>& texts() const { return texts_; }
  friend bool operator==(const NameTable& a, const NameTable& b) { return a.texts_ == b.texts_; }

 private:
  std::map<uint16_t, std::string> texts_;
  uint64_t lost_ = 0;
};

}  // namespace goodput::journal
