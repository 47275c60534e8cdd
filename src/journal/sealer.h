// Sealing of files: a live segment is replaced by its sealed form so that at every moment, whoever is killed, a reader
// finds at least one of the two whole.
//
// Use seal_file() on a segment that nobody writes to any more: its own journal's keeper does, and seal_dead_journal()
// for those whose process is gone.
//
//   ASSIGN_OR_RETURN(auto folder, directory_of(folder_fd, "journal"));
//   for (const uint32_t number : full) RETURN_IF_ERROR(seal_file(*folder, number));
//
// The order is: write beside, sync, rename, sync the folder, remove the live file. When both forms are there, the live
// one holds at least what the sealed one does, and is sealed again. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/clock.h"
#include "base/file_system.h"
#include "journal/segment.h"

namespace goodput::journal {

/// Replaces one live segment. A file in which nothing stands is removed. kNotFound: there is no such live file.
/// kUnsupported: a newer format version. Any other failure leaves the live file as it was.
Status seal_file(Directory& journal_folder, uint32_t number);

/// What sealing needs to know of the machine.
struct Machine {
  std::string boot_id;
  ClockPair now;
  int64_t pid = 0;
  uint32_t user = 0;
};
Machine this_machine(const Clock& clock);

/// Seals every live segment of a journal whose process is dead. kUnavailable, with the reason, when that is not known
/// or not ours to do: the folder is another user's or on another machine's disk, its lock is held, its liveness moved
/// within 3 s, or it is this process's own.
Status seal_dead_journal(Directory& journal_folder, const Machine& machine);

/// Removes sealed segments of a journal that nobody writes any more. kUnavailable: that is not certain (its lock is
/// held, or it has live segments), or its folder is another user's; nothing is removed then.
Status drop_segments(Directory& journal_folder, const Machine& machine, std::span<const uint32_t> numbers);

}  // namespace goodput::journal
