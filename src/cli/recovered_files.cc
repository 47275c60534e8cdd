// SPDX-License-Identifier: Apache-2.0
#include "cli/recovered_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/file_system.h"
#include "journal/journal_draft.h"
#include "journal/read_segments.h"
#include "journal/recover.h"
#include "journal/run_folder.h"
#include "journal/seal.h"
#include "journal/sealed_format.h"

namespace goodput::cli {
namespace {

using journal::Segment;
using journal::SegmentForm;
using journal::SegmentHint;

/// Of a file in its place: the folder is named by the journal, the file by the number.
std::optional<SegmentHint> hint_of(const std::filesystem::path& path) {
  const auto id = journal::parse_id_name(path.parent_path().filename().string());
  const auto name = journal::parse_segment_name(path.filename().string());
  if (!id || !name) return std::nullopt;
  return SegmentHint{*id, name->number};
}

bool has_sealed_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= journal::kSealedMagic.size() &&
         std::memcmp(bytes.data(), journal::kSealedMagic.data(), journal::kSealedMagic.size()) == 0;
}

SegmentForm form_of(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  if (has_sealed_magic(bytes)) return SegmentForm::kSealed;
  const auto name = journal::parse_segment_name(path.filename().string());
  return name ? name->form : SegmentForm::kLive;
}

RecoveredJournal journal_of(std::vector<RecoveredFile> files) {
  RecoveredJournal journal;
  std::stable_sort(files.begin(), files.end(), [](const RecoveredFile& a, const RecoveredFile& b) {
    return a.segment.header.segment_number < b.segment.header.segment_number;
  });
  std::vector<const Segment*> segments;
  journal.header = files.front().segment.header;
  journal::CounterValues counters;
  for (const RecoveredFile& file : files) {
    segments.push_back(&file.segment);
    if (journal.header.job.empty()) journal.header = file.segment.header;
    journal.events += file.segment.events.size();
    for (size_t i = 0; i < counters.counts.size(); ++i) {
      counters.counts[i] = std::max(counters.counts[i], file.segment.counters.counts[i]);
    }
  }
  journal.never_recorded = counters.lost_events();
  journal.losses = journal::joint_losses(segments);
  journal.files = std::move(files);
  return journal;
}

Status write_journal(const RecoveredJournal& journal, const std::string& folder) {
  // Without a job nothing says under which name a report would look for it: it stands under an empty one.
  const std::vector<journal::Root> roots = {{.path = folder}};
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> run,
                   journal::make_run_folder(posix_file_system(), roots, journal.header.job, journal.header.run_id));
  ASSIGN_OR_RETURN(journal::JournalDraft draft, journal::JournalDraft::begin(*run, journal.header.journal_id));
  for (const RecoveredFile& file : journal.files) {
    Segment whole = file.segment;
    const uint32_t number = whole.header.segment_number;
    if (whole.header.job.empty()) {
      whole.header = journal.header;
      whole.header.segment_number = number;
    }
    RETURN_IF_ERROR(replace_file(draft.folder(), journal::segment_name(number, SegmentForm::kSealed),
                                 journal::sealing_name(number), journal::seal_segment(whole)));
  }
  return draft.publish();
}

}  // namespace

Status RecoveredFiles::add(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed) ? add_folder(path) : add_file(path);
}

Status RecoveredFiles::add_folder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, posix_file_system().open_directory(path));
  ASSIGN_OR_RETURN(const std::vector<journal::SegmentFileName> segments, journal::list_segments(*folder));
  if (segments.empty()) {
    return Status(StatusCode::kUnreadable, "recovering " + path + ": no segment of a journal lies in this folder");
  }
  for (const auto& [number, form] : segments) {
    RETURN_IF_ERROR(add_file((std::filesystem::path(path) / journal::segment_name(number, form)).string()));
  }
  return {};
}

Status RecoveredFiles::add_file(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed).lexically_normal();
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder,
                   posix_file_system().open_directory(whole.parent_path().string()));
  const auto bytes = read_whole_file(*folder, whole.filename().string(), journal::kMaxSealedBytes);
  // A name that is not there is no question that could be answered with "no".
  if (!bytes.ok()) return Status(StatusCode::kUnreadable, "recovering " + path + ": " + bytes.status().message());
  Result<Segment> segment = journal::recover_segment(*bytes, hint_of(whole));
  if (!segment.ok()) {
    return Status(segment.status().code(), "recovering " + path + ": " + segment.status().message());
  }
  files_.push_back({.path = path, .form = form_of(whole, *bytes), .segment = std::move(*segment)});
  return {};
}

std::vector<RecoveredJournal> RecoveredFiles::journals() const {
  std::vector<std::vector<RecoveredFile>> groups;
  for (const RecoveredFile& file : files_) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<RecoveredFile>& candidate) {
      return candidate.front().segment.header.journal_id == file.segment.header.journal_id;
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(file);
  }
  std::vector<RecoveredJournal> journals;
  for (std::vector<RecoveredFile>& group : groups) journals.push_back(journal_of(std::move(group)));
  return journals;
}

Status RecoveredFiles::write(const std::string& folder) const {
  for (const RecoveredJournal& journal : journals()) RETURN_IF_ERROR(write_journal(journal, folder));
  return {};
}

}  // namespace goodput::cli
