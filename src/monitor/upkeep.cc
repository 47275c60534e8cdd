// SPDX-License-Identifier: Apache-2.0
#include "monitor/upkeep.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "journal/folder_names.h"
#include "journal/index_writer.h"
#include "journal/sealer.h"
#include "monitor/disk_budget.h"
#include "monitor/kept_folder.h"
#include "monitor/resume_point.h"

namespace goodput::monitor {
namespace {

using Member = journal::JobLog::Member;

constexpr int64_t kPatienceNs = 500'000'000;

/// The run's folders in which we may keep something, one process and one thread at a time.
class OwnFolders {
 public:
  explicit OwnFolders(journal::JobLog& log) : one_thread_(mutex(), std::try_to_lock) {
    if (!one_thread_.owns_lock()) return;
    for (Directory* folder : log.run_folders()) {
      if (!is_ours_alone(*folder)) continue;
      const Result<Directory*> kept = log.make_kept(*folder);
      if (!kept.ok() || !is_ours_alone(**kept)) continue;
      Result<std::unique_ptr<File>> lock = open_or_make_file(**kept, journal::kLockFile);
      if (!lock.ok() || !(*lock)->lock().ok()) continue;
      locks_.push_back(std::move(lock).value());
      folders_.push_back(folder);
    }
  }
  [[nodiscard]] const std::vector<Directory*>& folders() const { return folders_; }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }

  std::unique_lock<std::mutex> one_thread_;
  std::vector<std::unique_ptr<File>> locks_;
  std::vector<Directory*> folders_;
};

/// Dead, with segments that lie there as they were written; rank 0's first.
std::vector<Member*> left_by_the_dead(const journal::JobLog& log) {
  std::vector<Member*> found;
  for (const auto& member : log.members()) {
    if (member->file->facts().is_dead && member->file->has_live_files()) found.push_back(member.get());
  }
  const auto index = [](const Member* member) { return member->file->facts().header->process_index; };
  std::sort(found.begin(), found.end(), [&](const Member* a, const Member* b) { return index(a) < index(b); });
  return found;
}

void seal_the_dead(const journal::JobLog& log, const journal::Machine& machine, FunctionRef<bool()> is_enough) {
  for (Member* member : left_by_the_dead(log)) {
    const auto folder = member->run_folder->open_directory(journal::id_name(member->file->id()));
    const Status sealed = folder.ok() ? journal::seal_dead_journal(**folder, machine) : folder.status();
    // A disk that takes no files takes none of the next journal either.
    if (sealed.code() == StatusCode::kNoSpace || sealed.code() == StatusCode::kPermissionDenied) return;
    // Of another boot nobody comes back; of this one the log looks for itself.
    if (sealed.ok() && member->file->facts().header->boot_id != machine.boot_id) {
      if (const Result<FileFacts> facts = (*folder)->facts(); facts.ok()) member->file->note_sealed(facts->modified_ns);
    }
    if (is_enough()) return;
  }
}

/// First the account, which may read back what the cursor is to know.
bool keep_account(journal::JobLog& log, ledger::Ledger& ledger, Directory& kept, Durability durability) {
  ResumePoint point{.cursor = {}, .ledger = ledger.snapshot()};
  if (point.ledger.empty()) return false;
  point.cursor = log.cursor();
  return write_resume_point(log, kept, point, durability).ok();
}

}  // namespace

bool tend(journal::JobLog& log, ledger::Ledger& ledger, const Upkeep& upkeep, FunctionRef<bool()> is_worth_it,
          const Clock& clock) {
  const int64_t begun_ns = clock.boot_ns();
  const auto is_enough = [&] { return clock.boot_ns() - begun_ns > kPatienceNs; };
  const journal::Machine machine = journal::this_machine(clock);
  seal_the_dead(log, machine, is_enough);
  const OwnFolders own(log);
  if (own.folders().empty()) return false;
  Directory& kept = *log.kept_of(*own.folders().front());
  journal::IndexWriter indexes(log, clock);
  indexes.write(own.folders(), is_enough);
  bool is_kept = false;
  if (upkeep.is_usual) {
    DiskBudget(log, indexes, machine).keep(own.folders(), upkeep.budget_bytes, ledger, [&] {
      return is_kept = keep_account(log, ledger, kept, Durability::kDurable);
    });
  }
  // Where events are gone nothing else says what they said.
  const bool is_dropped = log.oldest_ns() != std::numeric_limits<int64_t>::min();
  if (!is_kept && upkeep.is_usual && is_worth_it()) {
    is_kept = keep_account(log, ledger, kept, is_dropped ? Durability::kDurable : Durability::kCache);
  }
  return is_kept;
}

}  // namespace goodput::monitor
