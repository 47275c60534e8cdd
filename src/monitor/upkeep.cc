// SPDX-License-Identifier: Apache-2.0
#include "monitor/upkeep.h"

#include <algorithm>
#include <vector>

#include "journal/folder_names.h"
#include "journal/sealer.h"

namespace goodput::monitor {
namespace {

using Member = journal::JobLog::Member;

constexpr int64_t kPatienceNs = 300'000'000;

/// Dead, with segments that lie there as they were written.
std::vector<const Member*> left_by_the_dead(const journal::JobLog& log) {
  std::vector<const Member*> found;
  for (const auto& member : log.members()) {
    if (member->file->facts().is_dead && member->file->has_live_files()) found.push_back(member.get());
  }
  const auto index = [](const Member* member) { return member->file->facts().header->process_index; };
  std::sort(found.begin(), found.end(), [&](const Member* a, const Member* b) { return index(a) < index(b); });
  return found;
}

}  // namespace

void seal_the_dead(const journal::JobLog& log, const Clock& clock) {
  const int64_t begun_ns = clock.boot_ns();
  journal::Machine machine;
  for (const Member* member : left_by_the_dead(log)) {
    if (machine.boot_id.empty()) machine = journal::this_machine(clock);
    const auto folder = member->run_folder->open_directory(journal::id_name(member->file->id()));
    const Status sealed = folder.ok() ? journal::seal_dead_journal(**folder, machine) : folder.status();
    // A disk that takes no files takes none of the next journal either.
    if (sealed.code() == StatusCode::kNoSpace || sealed.code() == StatusCode::kPermissionDenied) return;
    if (clock.boot_ns() - begun_ns > kPatienceNs) return;
  }
}

}  // namespace goodput::monitor
