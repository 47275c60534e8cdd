// Whether a folder is one in which we may keep something: ours, and closed to others.
//
//   if (is_ours_alone(*folder)) …
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include "base/file_system.h"

namespace goodput::monitor {

inline bool is_ours_alone(Directory& folder) {
  const Result<FileFacts> facts = folder.facts();
  constexpr uint32_t kOthers = 077;
  return facts.ok() && facts->owner == geteuid() && (facts->permissions & kOthers) == 0;
}

}  // namespace goodput::monitor
