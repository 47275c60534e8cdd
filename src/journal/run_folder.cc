// SPDX-License-Identifier: Apache-2.0
#include "journal/run_folder.h"

#include <algorithm>
#include <map>
#include <set>
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

void add_journal(std::string_view job, std::string_view run_id, int64_t start_ns, RunsByName& runs) {
  RunEntry& entry = runs[{std::string(job), std::string(run_id)}];
  if (entry.journals++ == 0) {
    entry.job = job;
    entry.run_id = run_id;
    entry.first_start_ns = entry.last_start_ns = start_ns;
  }
  entry.first_start_ns = std::min(entry.first_start_ns, start_ns);
  entry.last_start_ns = std::max(entry.last_start_ns, start_ns);
}

/// Adds the journals that an index knows, and takes them off the list of those whose header must be read.
void add_indexed(Directory& kept, const JournalId& rank_zero, std::vector<JournalId>& left, RunsByName& runs) {
  const auto bytes = read_whole_file(kept, index_name(rank_zero), kMaxIndexBytes);
  if (!bytes.ok()) return;
  const Result<RankIndex> index = decode_index_facts(*bytes);
  if (!index.ok()) return;
  std::vector<JournalId> known;
  for (const IndexedJournal& journal : index->journals) {
    if (!journal.is_dropped && !std::binary_search(left.begin(), left.end(), journal.id)) continue;
    add_journal(index->job, index->run_id, journal.open.wall_ns, runs);
    known.push_back(journal.id);
  }
  std::sort(known.begin(), known.end());
  std::erase_if(left, [&](const JournalId& id) { return std::binary_search(known.begin(), known.end(), id); });
}

void add_run(Directory& run_folder, RunsByName& runs) {
  Result<std::vector<JournalId>> journals = list_journals(run_folder);
  if (!journals.ok()) return;
  if (const auto kept = run_folder.open_directory(kKeptFolder); kept.ok()) {
    for (const JournalId& rank_zero : list_indexes(**kept)) add_indexed(**kept, rank_zero, *journals, runs);
  }
  for (const JournalId& id : *journals) {
    const Result<LiveHeader> header = read_journal_header(run_folder, id);
    if (header.ok()) add_journal(header->job, header->run_id, header->open_wall_ns, runs);
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
  std::vector<JournalId> journals;
  journals.reserve(names.size());
  for (const std::string& name : names) {
    if (const auto id = parse_id_name(name)) journals.push_back(*id);
  }
  std::sort(journals.begin(), journals.end());
  return journals;
}

std::vector<JournalId> list_indexes(Directory& kept) {
  const Result<std::vector<std::string>> names = kept.list();
  std::vector<JournalId> indexes;
  if (!names.ok()) return indexes;
  for (const std::string& name : *names) {
    if (const auto rank_zero = parse_index_name(name)) indexes.push_back(*rank_zero);
  }
  std::sort(indexes.begin(), indexes.end());
  return indexes;
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

std::optional<RunName> find_latest_run(FileSystem& files, std::span<const Root> roots, std::string_view job) {
  std::set<std::string> folders;
  for (const Root& root : roots) {
    const Result<std::unique_ptr<Directory>> folder = open_root(files, root);
    if (!folder.ok()) continue;
    const Result<std::unique_ptr<Directory>> layout = (*folder)->open_directory(kLayoutFolder);
    if (!layout.ok()) continue;
    const Result<std::unique_ptr<Directory>> job_folder = (*layout)->open_directory(hash_name(job));
    if (!job_folder.ok()) continue;
    const Result<std::vector<std::string>> names = (*job_folder)->list();
    if (names.ok()) folders.insert(names->begin(), names->end());
  }
  // Only where there are several does it matter when they were written; most jobs have one, without a name.
  if (folders.size() == 1 && *folders.begin() == hash_name("")) {
    return RunName{std::string(cut_text(job, kMaxJobBytes)), ""};
  }
  if (folders.empty()) return std::nullopt;
  const std::vector<RunEntry> runs = list_runs(files, roots, job);
  if (runs.empty()) return std::nullopt;
  return RunName{runs.back().job, runs.back().run_id};
}

std::optional<RunName> find_named_run(FileSystem& files, std::span<const Root> roots, std::string_view job,
                                      std::string_view run_id) {
  for (const Root& root : roots) {
    const Result<std::unique_ptr<Directory>> folder = open_root(files, root);
    if (!folder.ok() || !open_run_folder(**folder, job, run_id).ok()) continue;
    return RunName{std::string(cut_text(job, kMaxJobBytes)), std::string(cut_text(run_id, kMaxIdBytes))};
  }
  return std::nullopt;
}

}  // namespace goodput::journal
