// Journals that recorders left staged when they died: copied to where they belong, sealed there, and removed.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/clock.h"
#include "base/file_system.h"
#include "journal/folder_names.h"
#include "journal/live_header.h"
#include "journal/sealer.h"
#include "record/staging.h"

namespace goodput::record {
namespace {

constexpr uint64_t kMaxPathBytes = 4096;

/// The path of a staged journal's own folder under its root, which is also that of its place under its destination.
struct StagedPath {
  std::string job;
  std::string run;
  std::string id;
};

using Names = std::vector<std::string>;

Names list(Directory& folder) {
  Result<Names> names = folder.list();
  return names.ok() ? std::move(names).value() : Names();
}

Result<std::unique_ptr<Directory>> open_destination(Directory& staged, const StagedPath& path) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> root, read_whole_file(staged, kDestinationFile, kMaxPathBytes));
  const std::string root_path(reinterpret_cast<const char*>(root.data()), root.size());
  RETURN_IF_ERROR(posix_file_system().make_directories(root_path));
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> folder, posix_file_system().open_directory(root_path));
  for (const std::string& name : {std::string(journal::kLayoutFolder), path.job, path.run, path.id}) {
    ASSIGN_OR_RETURN(std::unique_ptr<Directory> inside, open_or_make_directory(*folder, name));
    folder = std::move(inside);
  }
  return folder;
}

/// Whether a segment was written by this process: its lock must not even be looked at.
bool is_own(std::span<const std::byte> segment, const journal::Machine& machine) {
  const Result<journal::LiveHeader> header = journal::find_header(segment);
  return header.ok() && header->pid == machine.pid && header->boot_id == machine.boot_id;
}

Status bring_segment(Directory& staged, Directory& destination, const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                   read_whole_file(staged, name, journal::kMaxReadableSegmentBytes));
  RETURN_IF_ERROR(replace_file(destination, name, name + ".copy", bytes));
  // What cannot be sealed is safe where it is.
  const Status sealed = journal::seal_file(destination, static_cast<uint32_t>(std::stoul(name)));
  return sealed.ok() ? staged.remove_file(name) : sealed;
}

Status bring_journal(Directory& run_folder, const StagedPath& path, const journal::Machine& machine) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> staged, run_folder.open_directory(path.id));
  Names segments;
  for (const std::string& name : list(*staged)) {
    if (name.ends_with(".live")) segments.push_back(name);
  }
  for (const std::string& name : segments) {
    const auto bytes = read_whole_file(*staged, name, journal::kMaxReadableSegmentBytes);
    if (bytes.ok() && is_own(*bytes, machine)) return {StatusCode::kUnavailable, "a journal of this process"};
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<File> lock, staged->open_file(journal::kLockFile, Access::kReadWrite));
  RETURN_IF_ERROR(lock->lock());
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> destination, open_destination(*staged, path));
  for (const std::string& name : segments) RETURN_IF_ERROR(bring_segment(*staged, *destination, name));
  for (const std::string& name : {std::string(kDestinationFile), std::string(journal::kLockFile)}) {
    RETURN_IF_ERROR(staged->remove_file(name));
  }
  return run_folder.remove_directory(path.id);
}

}  // namespace

int bring_home_staged(const journal::Environment& environment) {
  const journal::Machine machine = journal::this_machine(system_clock());
  int brought = 0;
  for (const journal::Root& root : staging_roots(environment)) {
    const auto top = journal::open_root(posix_file_system(), root);
    if (!top.ok()) continue;
    const auto layout = (*top)->open_directory(journal::kLayoutFolder);
    if (!layout.ok()) continue;
    for (const std::string& job : list(**layout)) {
      const auto job_folder = (*layout)->open_directory(job);
      if (!job_folder.ok()) continue;
      for (const std::string& run : list(**job_folder)) {
        const auto run_folder = (*job_folder)->open_directory(run);
        if (!run_folder.ok()) continue;
        for (const std::string& id : list(**run_folder)) {
          if (bring_journal(**run_folder, {job, run, id}, machine).ok()) ++brought;
        }
      }
    }
  }
  return brought;
}

}  // namespace goodput::record
