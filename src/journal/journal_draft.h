// A journal that is added to a run whole or not at all: made beside, synced, and given its name.
//
//   ASSIGN_OR_RETURN(auto run, make_run_folder(files, roots, "llama-7b", ""));
//   ASSIGN_OR_RETURN(JournalDraft draft, JournalDraft::begin(*run, id));
//   RETURN_IF_ERROR(replace_file(draft.folder(), segment_name(1, SegmentForm::kSealed), sealing_name(1), bytes));
//   RETURN_IF_ERROR(draft.publish());
//
// Readers see nothing of it before publish(). One that is destroyed unpublished is removed; what a killed process left
// is taken over by the next draft of that journal. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "journal/run_folder.h"

namespace goodput::journal {

/// <root>/v1/<hash of job>/<hash of run> under the first of `roots` on which it can be made, or is.
Result<std::unique_ptr<Directory>> make_run_folder(FileSystem& files, const std::vector<Root>& roots,
                                                   std::string_view job, std::string_view run_id);

class JournalDraft {
 public:
  /// kAlreadyExists: the run has a journal of this id. kUnavailable: another process is making it at this moment.
  /// `run_folder` outlives it.
  static Result<JournalDraft> begin(Directory& run_folder, const JournalId& id);

  JournalDraft(JournalDraft&&) = default;
  JournalDraft& operator=(JournalDraft&&) = delete;
  ~JournalDraft();

  [[nodiscard]] Directory& folder() { return *folder_; }
  /// kAlreadyExists: somebody else's came first.
  Status publish();

 private:
  JournalDraft(Directory& run_folder, const JournalId& id) : run_folder_(&run_folder), id_(id) {}
  void remove_files();

  Directory* run_folder_;
  JournalId id_;
  std::unique_ptr<Directory> folder_;  // null once it is published
  std::unique_ptr<File> lock_;
};

}  // namespace goodput::journal
