// SPDX-License-Identifier: Apache-2.0
#include "monitor/kept_folder.h"

#include <unistd.h>

#include <utility>

#include "journal/folder_names.h"

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

std::unique_ptr<Directory> own_kept_folder(journal::JobLog& log) {
  Directory* const kept = kept_folder(log);
  for (Directory* folder : log.run_folders()) {
    if (kept == nullptr || log.kept_of(*folder) != kept) continue;
    Result<std::unique_ptr<Directory>> own = folder->open_directory(journal::kKeptFolder);
    return own.ok() ? std::move(own).value() : nullptr;
  }
  return nullptr;
}

}  // namespace goodput::monitor
