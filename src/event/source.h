// What a ledger reads back: every event that it was given, by time.
//
// A ledger keeps totals, not events. Where an answer needs the events behind a total (the edge of a window, the stretch
// into which a rollback cuts) it asks for them here. Journals implement it, and so does an imported log.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>

#include "base/function_ref.h"
#include "base/status.h"
#include "event/event.h"

namespace goodput::event {

class Source {
 public:
  using Sink = FunctionRef<bool(std::span<const Event>)>;

  virtual ~Source() = default;

  /// Hands `sink` every event given out so far whose own time lies in [from_ns, to_ns), ordered by (time, position), in
  /// spans of any length, until `sink` returns false. Names and details are valid during that call of `sink`; origins
  /// as long as the Source. Exactly what was given out before: an event still on its way to the ledger is not among
  /// them. Events with flag kUntimed are never returned. One call at a time.
  virtual Status read(int64_t from_ns, int64_t to_ns, Sink sink) = 0;

  /// Events before this time have been dropped (disk budget); minimum when none have.
  [[nodiscard]] virtual int64_t oldest_ns() const { return std::numeric_limits<int64_t>::min(); }
};

}  // namespace goodput::event
