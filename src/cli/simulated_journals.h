// A simulated job's events as the journals that its processes would have left: one for each process of each attempt.
//
//   ASSIGN_OR_RETURN(SimulatedJournals journals, SimulatedJournals::begin(roots, options));
//   simulation.run([&](std::span<const event::Event> events) { return journals.take(events); });
//   RETURN_IF_ERROR(journals.finish());
//
// One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/move_options.h"
#include "event/event.h"
#include "journal/journal_draft.h"
#include "journal/sealed_writer.h"

namespace goodput::cli {

class SimulatedJournals {
 public:
  /// kAlreadyExists: the job has journals there.
  static Result<SimulatedJournals> begin(const std::vector<journal::Root>& roots, const SimulateOptions& options);

  /// Events by time, attempt after attempt; their origins stay valid. False once something could not be written.
  bool take(std::span<const event::Event> events);
  /// Journals appear one by one as attempts end, the last ones here.
  Status finish();

  [[nodiscard]] uint64_t events() const { return events_; }
  [[nodiscard]] uint64_t journals() const { return journals_; }

 private:
  struct Open {
    journal::JournalDraft draft;
    journal::SealedWriter writer;
  };

  SimulatedJournals(std::unique_ptr<Directory> run_folder, const SimulateOptions& options)
      : run_folder_(std::move(run_folder)), options_(options) {}
  Status add(const event::Event& event);
  Result<std::unique_ptr<Open>> open(const event::Event& event);
  Status close_all();

  std::unique_ptr<Directory> run_folder_;
  SimulateOptions options_;
  std::map<const event::Origin*, std::unique_ptr<Open>> open_;
  std::string attempt_id_;  // of those that are open
  uint64_t events_ = 0, journals_ = 0;
  Status failure_;
};

}  // namespace goodput::cli
