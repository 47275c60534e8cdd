// Entries of a log that goes on somewhere else, kept as journals of its job: each run's entries in one that grows.
//
//   PayloadJournal journal(files, root, "llama-7b");
//   journal.add(record.payload, record.timestamp_ns, record.position);       // any number of times
//   RETURN_IF_ERROR(journal.flush());                                        // readers of the folder see them now
//
// Whoever reads the folder (journal/job_log.h) sees the events as an import would have brought them: times, places,
// fingerprints and identities are the log's, and what is added twice counts once. Hold a lock: one writer a folder.
// One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "event/payload.h"
#include "journal/roots.h"

namespace goodput::store {

class PayloadJournal {
 public:
  /// `files` outlives it; `root` is made where it is missing.
  PayloadJournal(FileSystem& files, journal::Root root, std::string job)
      : files_(&files), root_(std::move(root)), job_(std::move(job)) {}

  /// Entries that were no events, or used after a repair: all in all, so that who goes on with a folder says so first.
  struct Flaws {
    uint64_t malformed = 0, repaired = 0;
  };
  void set_flaws(const Flaws& flaws) { flaws_ = flaws; }
  [[nodiscard]] const Flaws& flaws() const { return flaws_; }

  /// An entry of the log. What is no event of the job is passed over, and counted where it means to be one. `at_ns`
  /// says where one without a time of its own stands, `position` where one stands that does not say it itself.
  void add(std::string_view payload, int64_t at_ns, const event::Position& position);
  /// Entries that flush() would write.
  [[nodiscard]] size_t waiting() const { return events_.size(); }
  /// Writes what was added. After a failure it may be partly there, and is added again.
  Status flush();

 private:
  /// An event with what it refers to.
  struct Held {
    event::Event event;
    int64_t at_ns = 0;
    std::string name, location, cause, text;
    event::Detail detail;
  };
  struct HeldOrigin {
    std::string attempt_id, run_id, role, host;
    event::Origin origin;
  };

  const event::Origin* intern(const event::Origin* origin);
  Status write(const std::string& run_id, std::vector<Held*> events);

  FileSystem* files_;
  journal::Root root_;
  std::string job_;
  event::PayloadReader reader_;
  std::deque<Held> events_;
  std::map<std::string, std::unique_ptr<HeldOrigin>> origins_;  ///< by their text
  Flaws flaws_;
};

}  // namespace goodput::store
