// SPDX-License-Identifier: Apache-2.0
#include "journal/run_folder.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "journal/folder_names.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

using RunsByName = std::map<std::pair<std::string, std::string>, RunEntry>;

Result<LiveHeader> read_segment_header(Directory& journal_folder, const std::string& name, SegmentForm form) {
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file, journal_folder.open_file(name, Access::kRead));
  std::vector<std::byte> bytes(kPageBytes);
  ASSIGN_OR_RETURN(const size_t got, file->read_at(0, bytes));
  bytes.resize(got);
  if (form == SegmentForm::kLive) {
    Result<LiveHeader> first = find_header(bytes);
    if (first.ok()) return first;
    ASSIGN_OR_RETURN(const std::vector<std::byte> all, read_whole_file(journal_folder, name, kMaxReadableSegmentBytes));
    return find_header(all);
  }
  Result<SealedHeader> first = read_sealed_header(bytes);
  if (!first.ok()) {
    ASSIGN_OR_RETURN(const std::vector<std::byte> all, read_whole_file(journal_folder, name, kMaxSealedBytes));
    first = find_sealed_header(all);
  }
  if (!first.ok()) return first.status();
  return std::move(first->live);
}

void add_run(Directory& run_folder, RunsByName& runs) {
  const Result<std::vector<JournalId>> ids = list_journals(run_folder);
  if (!ids.ok()) return;
  for (const JournalId& id : *ids) {
    const Result<LiveHeader> header = read_journal_header(run_folder, id);
    if (!header.ok()) continue;
    RunEntry& entry = runs[{header->job, header->run_id}];
    if (entry.journals++ == 0) {
      entry.job = header->job;
      entry.run_id = header->run_id;
      entry.first_start_ns = entry.last_start_ns = header->open_wall_ns;
    }
    entry.first_start_ns = std::min(entry.first_start_ns, header->open_wall_ns);
    entry.last_start_ns = std::max(entry.last_start_ns, header->open_wall_ns);
  }
}

void add_job(Directory& layout, const std::string& name, RunsByName& runs) {
  const Result<std::unique_ptr<Directory>> job_folder = layout.open_directory(name);
  if (!job_folder.ok()) return;
  const Result<std::vector<std::string>> names = (*job_folder)->list();
  if (!names.ok()) return;
  for (const std::string& run : *names) {
    const Result<std::unique_ptr<Directory>> run_folder = (*job_folder)->open_directory(run);
    if (run_folder.ok()) add_run(**run_folder, runs);
  }
}

}  // namespace

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

Result<LiveHeader> read_journal_header(Directory& run_folder, const JournalId& id) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, run_folder.open_directory(id_name(id)));
  ASSIGN_OR_RETURN(std::vector<std::string> names, folder->list());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::optional<SegmentFileName> parsed = parse_segment_name(name);
    if (!parsed) continue;
    Result<LiveHeader> header = read_segment_header(*folder, name, parsed->form);
    if (header.ok() || header.status().code() == StatusCode::kUnsupported) return header;
  }
  return Status(StatusCode::kNotFound, "reading the header of journal " + id_name(id) + ": no segment has one");
}

std::vector<RunEntry> list_runs(FileSystem& files, std::span<const Root> roots, std::optional<std::string_view> job) {
  RunsByName runs;
  for (const Root& root : roots) {
    const Result<std::unique_ptr<Directory>> folder = open_root(files, root);
    if (!folder.ok()) continue;
    const Result<std::unique_ptr<Directory>> layout = (*folder)->open_directory(kLayoutFolder);
    if (!layout.ok()) continue;
    if (job) {
      add_job(**layout, hash_name(*job), runs);
      continue;
    }
    const Result<std::vector<std::string>> names = (*layout)->list();
    if (!names.ok()) continue;
    for (const std::string& name : *names) add_job(**layout, name, runs);
  }
  std::vector<RunEntry> sorted;
  for (auto& [name, entry] : runs) {
    if (!job || name.first == cut_text(*job, kMaxJobBytes)) sorted.push_back(std::move(entry));
  }
  std::sort(sorted.begin(), sorted.end(), [](const RunEntry& a, const RunEntry& b) {
    return std::tie(a.job, a.last_start_ns, a.run_id) < std::tie(b.job, b.last_start_ns, b.run_id);
  });
  return sorted;
}

}  // namespace goodput::journal
