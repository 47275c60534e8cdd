// Where an event stands among all: by time, what was moved there last, a job start before all else, then by its
// position in the log. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "event/event.h"

namespace goodput::ledger {

struct Key {
  int64_t ns = std::numeric_limits<int64_t>::min();
  int64_t moved_ns = 0;  ///< of an attempt with an id that was moved here its own start: it comes after what is there
  uint8_t after_starts = 0;  ///< 0 for a job start (without id: whose attempt was not moved), 1 for all else
  event::Position position;
  friend constexpr auto operator<=>(const Key&, const Key&) = default;
};

}  // namespace goodput::ledger
