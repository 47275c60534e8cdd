// A job's log in Cloud Logging as a folder of journals on this machine, so that it is read as any job is.
//
//   ASSIGN_OR_RETURN(auto mirror, LogMirror::open(files, roots, {.address = {"my-project", "goodput_7b"}}, "7b", {}));
//   RETURN_IF_ERROR(mirror->update());                       // takes what is new in the log
//   JobLog::open(files, {mirror->root()}, "7b", run_id, …)
//
// A ledger reads back what it was given, and the service answers 60 questions a minute, of a thousand entries each:
// what was read once is kept, with the place up to which it was. Readers of one log share the folder; an entry that is
// there twice counts once. It may be removed at any time. One thread at a time; processes take turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "journal/roots.h"
#include "store/cloud_logging/log_reader.h"
#include "store/payload_journal.h"

namespace goodput::store {

class LogMirror {
 public:
  /// In a folder of its own under the first of `roots` where one can be made. Asks nobody. `files` outlives it.
  static Result<std::unique_ptr<LogMirror>> open(FileSystem& files, const std::vector<journal::Root>& roots,
                                                 const CloudLogOptions& options, const std::string& job,
                                                 const LogReaderOptions& how);

  /// Takes what is new. kUnavailable: it may succeed later, and goes on then; what came until then is there.
  Status update();

  [[nodiscard]] const journal::Root& root() const { return root_; }
  /// The log's memory ends within the job: what came before is gone.
  [[nodiscard]] bool may_be_cut_off() const { return may_be_cut_off_; }
  /// Whether the last update() brought anything, complete or not.
  [[nodiscard]] bool has_progressed() const { return has_progressed_; }
  /// How long the service wants to be left alone after the last failure.
  [[nodiscard]] std::optional<int64_t> retry_after_ns() const {
    return reader_ == nullptr ? std::nullopt : reader_->retry_after_ns();
  }

 private:
  LogMirror(FileSystem& files, std::unique_ptr<Directory> folder, journal::Root root, const CloudLogOptions& options,
            const std::string& job, const LogReaderOptions& how);

  Result<std::unique_ptr<File>> wait_for_turn();
  Status go_on();
  Status save();

  std::unique_ptr<Directory> folder_;
  journal::Root root_;
  CloudLogOptions options_;
  std::string job_;
  LogReaderOptions how_;
  PayloadJournal journal_;
  std::unique_ptr<CloudLogReader> reader_;
  std::string saved_;  ///< the place as this one saved it last
  bool may_be_cut_off_ = false;
  bool has_progressed_ = false;
};

}  // namespace goodput::store
