// What is done for the segments of a journal while others record: supply, care, retirement, sync, sealing.
//
// The keeper's thread calls these in turn; nothing else does, but for the first supply().
//
//   Housekeeping care(writer, folder, staging, options);
//   int error = care.supply();          // the folder, a segment to write to and a spare
//   care.check_files();                 // truncated or deleted under us?
//   care.retire_full(patience_ns);      // nobody writes to them any more: unmap
//   care.sync();  care.seal();
//
// One thread at a time. Failures are remembered by the chain (recorders count what they lose by them) and tried again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "record/journal_folder.h"
#include "record/staging.h"
#include "record/writer.h"

namespace goodput::record {

struct HousekeepingOptions {
  double sync_interval_seconds = 1;  ///< 0: never
  /// Seals the segments of these numbers in the open folder.
  std::function<void(int folder, const std::vector<uint32_t>& numbers)> seal;
};

class Housekeeping {
 public:
  Housekeeping(Writer& writer, JournalFolder& folder, Staging& staging, HousekeepingOptions options)
      : writer_(writer), folder_(folder), staging_(staging), options_(std::move(options)) {}
  Housekeeping(const Housekeeping&) = delete;
  Housekeeping& operator=(const Housekeeping&) = delete;

  [[nodiscard]] const HousekeepingOptions& options() const { return options_; }

  /// Opens the folder if it is not, and prepares segments until there is one to write to and enough behind it. 0 or
  /// errno.
  int supply();
  /// Leaves segments whose file was truncated or deleted before the next slot is written to them.
  void check_files();
  /// Unmaps the segments before the current one, when all recorders leave them within `patience_ns`; else the next
  /// time.
  void retire_full(int64_t patience_ns);
  /// Copies what is staged; makes safe from a power cut what was recorded.
  void sync();
  void seal();
  /// No event is recorded any more: everything to its place, what was never used removed.
  void finish_all(int64_t patience_ns);

 private:
  /// A segment that is full and no longer mapped, in its place.
  struct Retired {
    uint32_t number = 0;
    int fd = -1;
  };

  int open_folder();
  /// Where segments are made: the journal's folder, or where it is staged.
  JournalFolder& live_folder() { return staging_.is_open() ? staging_.folder() : folder_; }
  [[nodiscard]] uint32_t wanted_spares() const;
  void finish(LiveSegment& segment);
  bool write_anew(const LiveSegment& segment, Retired& retired);
  bool copy_home(LiveSegment& segment);
  void sync_retired();
  void sync_live();
  void copy_live();
  void remove_segment(const LiveSegment& segment);
  void count_failed_sync();

  Writer& writer_;
  JournalFolder& folder_;
  Staging& staging_;
  HousekeepingOptions options_;
  std::vector<Retired> unsynced_;
  std::vector<uint32_t> unsealed_;
  uint64_t synced_activity_ = 0;
  bool new_names_ = false;
  bool has_looked_for_dead_ = false;  // of this machine, that left journals staged
};

}  // namespace goodput::record
