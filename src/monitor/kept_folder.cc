// SPDX-License-Identifier: Apache-2.0
#include "monitor/kept_folder.h"

#include <unistd.h>

namespace goodput::monitor {

bool is_ours_alone(Directory& folder) {
  const Result<FileFacts> facts = folder.facts();
  constexpr uint32_t kOthers = 077;
  return facts.ok() && facts->owner == geteuid() && (facts->permissions & kOthers) == 0;
}

Directory* kept_folder(journal::JobLog& log) {
  for (Directory* folder : log.run_folders()) {
    if (!is_ours_alone(*folder)) continue;
    const Result<Directory*> kept = log.make_kept(*folder);
    if (kept.ok() && is_ours_alone(**kept)) return *kept;
  }
  return nullptr;
}

}  // namespace goodput::monitor
