// Who recorded the events of a log, each kept once.
//
//   const uint32_t id = origins.intern(event.origin);      // null is 0
//   event.origin = origins.at(id);
//
// Pointers and the texts behind them hold as long as the table. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "event/event.h"

namespace goodput::importers {

/// Far beyond ranks times attempts of one job that still fit a file; what it costs then is 20 MB.
constexpr size_t kMaxOrigins = 65'536;

class OriginTable {
 public:
  /// The number of an equal origin, made when there is none. Empty when the table is full.
  std::optional<uint32_t> intern(const event::Origin* origin);
  [[nodiscard]] const event::Origin* at(uint32_t id) const { return id == 0 ? nullptr : &held_[id - 1].origin; }
  [[nodiscard]] size_t size() const { return held_.size(); }

 private:
  struct Held {
    std::string texts;  // all five, one after another
    event::Origin origin;
  };
  std::deque<Held> held_;  // never moves what it holds
  std::unordered_map<std::string, uint32_t> ids_;
  uint32_t latest_ = 0;
};

}  // namespace goodput::importers
