// SPDX-License-Identifier: Apache-2.0
#include "journal/run_folder.h"

#include "journal/folder_names.h"

namespace goodput::journal {

Result<std::unique_ptr<Directory>> open_root(FileSystem& files, const std::string& path) {
  return files.open_directory(path);
}

Result<std::unique_ptr<Directory>> open_run_folder(Directory& root, std::string_view job, std::string_view run_id) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> layout, root.open_directory(kLayoutFolder));
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> job_folder, layout->open_directory(hash_name(job)));
  return job_folder->open_directory(hash_name(run_id));
}

Result<std::vector<JournalId>> list_journals(Directory& run_folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, run_folder.list());
  std::vector<JournalId> ids;
  for (const std::string& name : names) {
    if (const auto id = parse_id_name(name)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace goodput::journal
