// SPDX-License-Identifier: Apache-2.0
#include "cli/run/launch_journal.h"

#include "cli/run/progress.h"
#include "journal/roots.h"
#include "record/staging.h"

namespace goodput::cli {

LaunchLog LaunchJournal::log() {
  return {
      .attempt_starts = [this](const std::string& attempt_id) { return start_attempt(attempt_id); },
      .exited = [this](const Exit& exit) { record_exit(exit); },
      .disrupted = [this](std::string_view cause, std::string_view text) { recorder_.disruption(cause, text); },
      .gave_up = [this] { recorder_.end(Event::kJob, {.failed = true}); },
      .made_progress = [this] { return made_progress(); },
  };
}

std::string LaunchJournal::start_attempt(const std::string& attempt_id) {
  recorder_ = Recorder();  // or both attempts would share the first one's journal
  attempt_id_ = attempt_id;
  RecorderOptions options = options_;
  options.role = "launcher";
  options.attempt_id = attempt_id;  // empty: from the environment, as the command's own recorder does
  recorder_ = Recorder::open(options);
  // A default that cannot be written now is not imposed on the command.
  return recorder_.is_recording() ? recorder_.directory() : options_.directory;
}

void LaunchJournal::record_exit(const Exit& exit) {
  recorder_.process_exit(exit.signal == 0 ? ProcessExit{.code = exit.code} : ProcessExit{.signal = exit.signal});
  // What the dead had not yet copied to a network file system would stay behind until somebody records here again.
  record::bring_home_staged(journal::system_environment());
}

bool LaunchJournal::made_progress() const {
  const auto roots = journal::search_roots(recorder_.directory(), journal::system_environment());
  return !attempt_id_.empty() && has_recorded_step(roots, options_.job, options_.run_id, attempt_id_);
}

}  // namespace goodput::cli
