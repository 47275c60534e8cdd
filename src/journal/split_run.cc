// SPDX-License-Identifier: Apache-2.0
#include "journal/split_run.h"

#include <algorithm>
#include <limits>

#include "journal/folder_names.h"
#include "journal/journal_draft.h"
#include "journal/predictors.h"
#include "journal/rank_index.h"
#include "journal/read_segments.h"
#include "journal/seal.h"
#include "journal/split_sides.h"

namespace goodput::journal {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr const char* kRemoved = ".removed";

/// A root that is not there, or is another user's, has nothing of ours.
Status unless_absent(const Status& status) {
  const bool is_absent = status.code() == StatusCode::kNotFound || status.code() == StatusCode::kPermissionDenied;
  return is_absent ? Status() : status;
}

/// A journal with something of the second run.
struct Division {
  const JobLog::Member* member = nullptr;
  Directory* run_folder = nullptr;     ///< of the first run
  Directory* second_folder = nullptr;  ///< of the second, under the same root
  bool is_cut = false;                 ///< it has something of both runs
  int64_t second_boot_ns = kNever;     ///< its earliest event of the second run
  std::unique_ptr<File> lock;

  [[nodiscard]] const JournalId& id() const { return member->file->id(); }
  [[nodiscard]] int64_t second_ns() const { return JobLog::wall_ns(*member, second_boot_ns); }
};

bool opens_attempts(const JobLog::Member& member) {
  const LiveHeader& header = *member.file->facts().header;
  return is_imported(header) || is_rank_zero(header);
}

Status split_failure(const std::string& why) {
  return Status(StatusCode::kUnsupported, "splitting a run: " + why + "; nothing was changed");
}

/// Times stay what they were: the clock of the first run, whose earliest journal decides it, is written into each.
LiveHeader second_header(const Division& division, uint32_t number, const std::string& run_id) {
  LiveHeader made = *division.member->file->facts().header;
  made.segment_number = number;
  made.run_id = run_id;
  made.header_flags &= ~kStagedFlag;
  if (division.is_cut) made.open_boot_ns = division.second_boot_ns;
  made.open_wall_ns = JobLog::wall_ns(*division.member, made.open_boot_ns);
  return made;
}

/// What the segment keeps of the first run: it lived until the second began.
Segment first_part(const Segment& whole, const SplitSides& sides, const Division& division) {
  Segment part = whole;
  std::erase_if(part.events,
                [&](const StoredEvent& stored) { return sides.is_second(*division.member, whole, stored); });
  const int64_t beyond_ns = wrapping_subtract(part.clock.latest.boot_ns, division.second_boot_ns);
  if (beyond_ns > 0) {
    part.clock.latest = {division.second_boot_ns, wrapping_subtract(part.clock.latest.wall_ns, beyond_ns)};
  }
  return part;
}

/// What could not be recorded, and what is lost, is told by the first part.
Segment second_part(const Segment& whole, const SplitSides& sides, const Division& division) {
  Segment part = whole;
  std::erase_if(part.events,
                [&](const StoredEvent& stored) { return !sides.is_second(*division.member, whole, stored); });
  part.counters = {};
  if (part.events.size() < whole.events.size()) part.losses.clear();
  return part;
}

Status write_sealed(Directory& folder, const Segment& segment) {
  const uint32_t number = segment.header.segment_number;
  return replace_file(folder, segment_name(number, SegmentForm::kSealed), sealing_name(number), seal_segment(segment));
}

Status remove_journal(Directory& run, const std::string& name) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, run.open_directory(name));
  ASSIGN_OR_RETURN(const std::vector<std::string> files, folder->list());
  for (const std::string& file : files) RETURN_IF_ERROR(folder->remove_file(file));
  return run.remove_directory(name);
}

Status remove_leftovers(Directory& run) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, run.list());
  for (const std::string& name : names) {
    if (name.ends_with(kRemoved)) RETURN_IF_ERROR(remove_journal(run, name));
  }
  return {};
}

/// What readers keep is of the journals as they were.
Status forget_kept(Directory& run) {
  const auto kept = run.open_directory(kKeptFolder);
  if (!kept.ok()) return {};
  ASSIGN_OR_RETURN(const std::vector<std::string> names, (*kept)->list());
  for (const std::string& name : names) {
    if (name != kLockFile) RETURN_IF_ERROR((*kept)->remove_file(name));
  }
  return {};
}

class RunSplit {
 public:
  RunSplit(FileSystem& files, const JobLog& log, const SplitRequest& request)
      : files_(&files), log_(&log), request_(&request), sides_(log, request) {}

  Result<SplitOutcome> run(const std::vector<Root>& roots) {
    for (const Root& root : roots) RETURN_IF_ERROR(plan(root));
    std::stable_sort(divisions_.begin(), divisions_.end(), removed_earlier);
    SplitOutcome outcome;
    // Who opened attempts comes first: other ranks without them are nobody's.
    for (auto division = divisions_.rbegin(); division != divisions_.rend(); ++division) {
      RETURN_IF_ERROR(write_second(*division));
      ++(division->is_cut ? outcome.cut : outcome.moved);
    }
    for (const Division& division : divisions_) RETURN_IF_ERROR(leave_first(division));
    for (const auto& folder : run_folders_) RETURN_IF_ERROR(forget_kept(*folder));
    return outcome;
  }

 private:
  /// Who opened the attempt at which is split goes last: until then a split that is done again finds it there.
  static bool removed_earlier(const Division& a, const Division& b) {
    const bool a_opens = opens_attempts(*a.member), b_opens = opens_attempts(*b.member);
    return a_opens != b_opens ? b_opens : a.second_ns() > b.second_ns();
  }

  Status plan(const Root& root) {
    const auto folder = open_root(*files_, root);
    if (!folder.ok()) return unless_absent(folder.status());
    auto run = open_run_folder(**folder, request_->job, request_->run_id);
    if (!run.ok()) return unless_absent(run.status());
    RETURN_IF_ERROR(remove_leftovers(**run));
    RETURN_IF_ERROR(forget_kept(**run));
    ASSIGN_OR_RETURN(const std::vector<JournalId> ids, list_journals(**run));
    const size_t before = divisions_.size();
    for (const JournalId& id : ids) RETURN_IF_ERROR(divide(**run, id));
    if (divisions_.size() > before) {
      ASSIGN_OR_RETURN(auto second, make_run_folder(*files_, {root}, request_->job, request_->second_run_id));
      for (size_t i = before; i < divisions_.size(); ++i) divisions_[i].second_folder = second.get();
      run_folders_.push_back(std::move(second));
    }
    run_folders_.push_back(std::move(run).value());
    return {};
  }

  Status divide(Directory& run, const JournalId& id) {
    const auto& members = log_->members();
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const auto& member) { return member->file->id() == id; });
    if (found == members.end()) return split_failure("journal " + id_name(id) + " appeared meanwhile");
    const JournalFile::Facts& facts = (*found)->file->facts();
    if (!facts.refused.empty()) return split_failure(facts.refused);
    if (!facts.header) return {};  // nothing in it says whose it is
    const Side side = sides_.of(**found);
    if (side == Side::kFirst) return {};
    ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, run.open_directory(id_name(id)));
    Division division;
    division.member = found->get();
    division.run_folder = &run;
    RETURN_IF_ERROR(take_lock(*folder, division));
    if (side == Side::kSecond) {
      division.second_boot_ns = facts.header->open_boot_ns;
    } else {
      RETURN_IF_ERROR(divide_by_event(*folder, division));
    }
    if (division.second_boot_ns != kNever) divisions_.push_back(std::move(division));
    return {};
  }

  /// Finds where the second run begins in it, and whether something is of the first.
  Status divide_by_event(Directory& folder, Division& division) {
    return each_segment(folder, division.id(), [&](const Segment& segment) {
      for (const StoredEvent& stored : segment.events) {
        if (sides_.is_second(*division.member, segment, stored)) {
          division.second_boot_ns = std::min(division.second_boot_ns, stored.event.boot_ns);
        } else {
          division.is_cut = true;
        }
      }
      return Status();
    });
  }

  static Status each_segment(Directory& folder, const JournalId& id, FunctionRef<Status(const Segment&)> visit) {
    ASSIGN_OR_RETURN(const std::vector<SegmentFileName> files, list_segments(folder));
    for (const SegmentFileName& file : files) {
      ASSIGN_OR_RETURN(const std::optional<Segment> segment, read_segment(folder, id, file));
      if (segment) RETURN_IF_ERROR(visit(*segment));
    }
    return {};
  }

  /// Nobody may seal it, or turn out to be alive, while it is divided.
  static Status take_lock(Directory& folder, Division& division) {
    ASSIGN_OR_RETURN(std::unique_ptr<File> lock, open_or_make_file(folder, kLockFile));
    if (folder.is_local()) RETURN_IF_ERROR(lock->lock());
    division.lock = std::move(lock);
    return {};
  }

  Status write_second(const Division& division) {
    Result<JournalDraft> draft = JournalDraft::begin(*division.second_folder, division.id());
    if (draft.status().code() == StatusCode::kAlreadyExists) return {};  // by a split that was killed
    if (!draft.ok()) return draft.status();
    ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder,
                     division.run_folder->open_directory(id_name(division.id())));
    RETURN_IF_ERROR(each_segment(*folder, division.id(), [&](const Segment& segment) {
      Segment made = division.is_cut ? second_part(segment, sides_, division) : segment;
      if (division.is_cut && made.events.empty()) return Status();
      made.header = second_header(division, segment.header.segment_number, request_->second_run_id);
      return write_sealed(draft->folder(), made);
    }));
    return draft->publish();
  }

  Status leave_first(const Division& division) {
    const std::string name = id_name(division.id());
    if (!division.is_cut) {
      RETURN_IF_ERROR(division.run_folder->rename(name, name + kRemoved));
      RETURN_IF_ERROR(division.run_folder->sync());
      return remove_journal(*division.run_folder, name + kRemoved);
    }
    ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, division.run_folder->open_directory(name));
    const Status left = each_segment(*folder, division.id(), [&](const Segment& segment) {
      RETURN_IF_ERROR(write_sealed(*folder, first_part(segment, sides_, division)));
      const Status removed = folder->remove_file(segment_name(segment.header.segment_number, SegmentForm::kLive));
      return removed.code() == StatusCode::kNotFound ? Status() : removed;
    });
    RETURN_IF_ERROR(left);
    return folder->sync();
  }

  FileSystem* files_;
  const JobLog* log_;
  const SplitRequest* request_;
  SplitSides sides_;
  std::vector<std::unique_ptr<Directory>> run_folders_;
  std::vector<Division> divisions_;
};

}  // namespace

Status forget_indexes(FileSystem& files, const std::vector<Root>& roots, const std::string& job,
                      const std::string& run_id) {
  for (const Root& root : roots) {
    const auto folder = open_root(files, root);
    if (!folder.ok()) continue;
    const auto run = open_run_folder(**folder, job, run_id);
    if (!run.ok()) continue;
    const auto kept = (*run)->open_directory(kKeptFolder);
    if (!kept.ok()) continue;
    if ((*kept)->facts(kDroppedFile).ok()) {
      return split_failure("its oldest events are gone (disk budget), and their account cannot be divided");
    }
    for (const JournalId& rank_zero : list_indexes(**kept)) {
      const auto bytes = read_whole_file(**kept, index_name(rank_zero), kMaxIndexBytes);
      if (!bytes.ok()) continue;
      const Result<RankIndex> index = decode_index_facts(*bytes);
      if (!index.ok()) continue;
      const bool has_dropped = std::any_of(index->journals.begin(), index->journals.end(),
                                           [](const IndexedJournal& journal) { return journal.is_dropped; });
      if (has_dropped) return split_failure("the journals of some ranks are gone (disk budget)");
    }
    RETURN_IF_ERROR(forget_kept(**run));
  }
  return {};
}

Result<SplitOutcome> split_run(FileSystem& files, const std::vector<Root>& roots, const JobLog& log,
                               const SplitRequest& request) {
  return RunSplit(files, log, request).run(roots);
}

}  // namespace goodput::journal
