// SPDX-License-Identifier: Apache-2.0
#include "journal/journal_draft.h"

#include "journal/folder_names.h"

namespace goodput::journal {
namespace {

std::string draft_name(const JournalId& id) { return id_name(id) + ".adding"; }

Result<std::unique_ptr<Directory>> make_under(FileSystem& files, const Root& root, std::string_view job,
                                              std::string_view run_id) {
  RETURN_IF_ERROR(files.make_directories(root.path));
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, open_root(files, root));
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> layout, open_or_make_directory(*folder, kLayoutFolder));
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> job_folder, open_or_make_directory(*layout, hash_name(job)));
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> run_folder, open_or_make_directory(*job_folder, hash_name(run_id)));
  for (Directory* above : {job_folder.get(), layout.get(), folder.get()}) RETURN_IF_ERROR(above->sync());
  return run_folder;
}

}  // namespace

Result<std::unique_ptr<Directory>> make_run_folder(FileSystem& files, const std::vector<Root>& roots,
                                                   std::string_view job, std::string_view run_id) {
  Status first_failure(StatusCode::kNotFound, "making a folder for journals: no place is known for it");
  for (size_t i = 0; i < roots.size(); ++i) {
    Result<std::unique_ptr<Directory>> made = make_under(files, roots[i], job, run_id);
    if (made.ok()) return made;
    if (i == 0) first_failure = made.status();
  }
  return first_failure;
}

Result<JournalDraft> JournalDraft::begin(Directory& run_folder, const JournalId& id) {
  if (run_folder.facts(id_name(id)).ok()) {
    return Status(StatusCode::kAlreadyExists, "adding journal " + id_name(id) + ": it is there already");
  }
  JournalDraft draft(run_folder, id);
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> folder, open_or_make_directory(run_folder, draft_name(id)));
  ASSIGN_OR_RETURN(std::unique_ptr<File> lock, open_or_make_file(*folder, kLockFile));
  RETURN_IF_ERROR(lock->lock());
  draft.folder_ = std::move(folder);
  draft.lock_ = std::move(lock);
  draft.remove_files();
  return draft;
}

JournalDraft::~JournalDraft() {
  if (folder_ == nullptr) return;
  remove_files();
  (void)folder_->remove_file(kLockFile);
  (void)run_folder_->remove_directory(draft_name(id_));
}

void JournalDraft::remove_files() {
  const Result<std::vector<std::string>> names = folder_->list();
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name != kLockFile) (void)folder_->remove_file(name);
  }
}

Status JournalDraft::publish() {
  RETURN_IF_ERROR(folder_->sync());
  // Over a journal that is there, which holds files, the system refuses to rename.
  const Status renamed = run_folder_->rename(draft_name(id_), id_name(id_));
  if (!renamed.ok()) {
    return run_folder_->facts(id_name(id_)).ok() ? Status(StatusCode::kAlreadyExists, renamed.message()) : renamed;
  }
  folder_.reset();
  return run_folder_->sync();
}

}  // namespace goodput::journal
