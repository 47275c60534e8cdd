// One open journal: its identity, its writer and its keeper, shared by the recorders of a (job, run, role, process
// index).
//
// Recorder and the C API hold one; nobody else needs it.
//
//   LiveJournal* journal = LiveJournal::acquire(options);        // nullptr: not enabled, or there is nothing to record
//   for journal->writer().record_plain(event::Kind::kStepStart, 0, step); LiveJournal::release(journal); // the last
//   one closes it
//
// acquire() and release() from any thread. In a forked child what the parent holds is not there: acquire() opens anew.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "goodput/recorder_types.h"
#include "record/identity.h"
#include "record/keeper.h"
#include "record/writer.h"

namespace goodput::record {

class LiveJournal {
 public:
  static LiveJournal* acquire(const RecorderOptions& options);
  /// This holder records no more; the last one closes the journal. What is recorded afterwards is counted as lost.
  void close();
  /// Gives it back, after close().
  static void release(LiveJournal* journal);

  [[nodiscard]] Writer& writer() { return writer_; }
  [[nodiscard]] const Identity& identity() const { return identity_; }
  [[nodiscard]] const std::string& root() const { return folder_.root(); }
  [[nodiscard]] std::string id() const;

 private:
  LiveJournal(Identity identity, const RecorderOptions& options);
  [[nodiscard]] JournalFolder::Place place() const;
  ~LiveJournal() = default;

  /// Destroys those whose threads have come back.
  static void reap(std::vector<LiveJournal*>& stuck);
  bool open();
  void announce(int error) const;

  Identity identity_;
  std::array<uint8_t, 16> journal_id_;
  JournalFolder folder_;
  Staging staging_;
  Writer writer_;
  Housekeeping housekeeping_;
  Keeper keeper_;
  int holders_ = 1;       // recorders that exist
  int open_holders_ = 1;  // and have not been closed
};

}  // namespace goodput::record
