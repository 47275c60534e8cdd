// An id for a journal that is made of what stands in it: the same events of the same run give the same id.
//
//   LogIdentity identity("llama-7b", "");
//   for (const event::Event& event : log) identity.add(event);
//   const JournalId id = identity.id();
//
// Not against somebody who wants two logs to have one id. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "event/event.h"

namespace goodput::journal {

class LogIdentity {
 public:
  LogIdentity(std::string_view job, std::string_view run_id);

  void add(const event::Event& event);
  /// Names and values beside events that tell journals apart.
  void add(std::string_view text);
  void add(uint64_t value);

  [[nodiscard]] std::array<uint8_t, 16> id() const;

 private:
  std::array<uint64_t, 2> sums_{1, 2};
};

}  // namespace goodput::journal
