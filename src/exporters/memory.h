// What an exporter keeps for the next time that it starts: a few bytes, read once, replaced as a whole.
//
//   Memory memory = {.recall = [&] { return bytes; }, .keep = [&](std::string_view now) { bytes = now; return Status();
//   }};
//
// An empty function remembers nothing. Used by the exporter's thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::exporters {

struct Memory {
  std::function<std::string()> recall{};  ///< empty when there is nothing
  std::function<Status(std::string_view)> keep{};
};

}  // namespace goodput::exporters
