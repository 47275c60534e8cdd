// The ledger as an engine of the property tests, over events held in memory.
//
//   const EngineMaker make = ledger_maker(small_sizes());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "event/source.h"
#include "ledger/ledger.h"
#include "property/engine.h"

namespace goodput::property {

/// Holds events in memory and gives them out in order. Those without a time of their own are never read back.
class MemorySource : public event::Source {
 public:
  void add(std::span<const event::Event> events);
  Status read(int64_t from_ns, int64_t to_ns, Sink sink) override;

 private:
  std::vector<event::Event> events_;
};

/// Sizes at which a history of a hundred events has stretches, joins and read-backs.
[[nodiscard]] ledger::Sizes small_sizes();

[[nodiscard]] EngineMaker ledger_maker(const ledger::Sizes& sizes);

}  // namespace goodput::property
