// Which segments a journal has: from the listing of its folder, which may miss some, and from numbers that are probed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "journal/folder_names.h"
#include "journal/journal_file.h"

namespace goodput::journal {
namespace {

// Numbers are handed out in order, but a segment may be prepared and removed unused, or fail to be prepared: a few in a
// row have no file, more only where many threads prepared at once, and then the folder's listing shows what is behind
// them.
constexpr uint32_t kNumbersProbed = 4;
// Two threads may prepare at a time, and the one with the lower number make its file later: a number without a file is
// looked for until so many others are behind it.
constexpr uint32_t kNumbersBetween = 16;
// Where a folder holds names that no recorder made, a gap may be of any size.
constexpr size_t kMostMissing = 1'024;
// A folder's time of change is as coarse as the kernel's tick; within a second of a change another may hide behind it.
constexpr int64_t kFreshChangeNs = 1'000'000'000;

bool exists(Directory& folder, uint32_t number) {
  return folder.facts(segment_name(number, SegmentForm::kLive)).ok() ||
         folder.facts(segment_name(number, SegmentForm::kSealed)).ok();
}

}  // namespace

/// What the folder's listing shows, when there is reason to look; and what it may have missed.
Status JournalFile::find_segments(Directory& folder) {
  ASSIGN_OR_RETURN(const FileFacts facts, folder.facts());
  const bool is_fresh = observer_.now.wall_ns - facts.modified_ns < kFreshChangeNs;
  if (!was_listed_ || is_fresh || facts.modified_ns != folder_modified_ns_) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.list());
    for (const std::string& name : names) {
      if (const std::optional<SegmentFileName> parsed = parse_segment_name(name)) add_segment(parsed->number);
    }
    // Older ones may have been dropped: before the first there is one if there is any.
    while (!was_listed_ && !segments_.empty() && segments_.front().number > 1 &&
           exists(folder, segments_.front().number - 1)) {
      add_segment(segments_.front().number - 1);
    }
    if (!was_listed_) probe_between(folder, std::numeric_limits<uint32_t>::max());
    was_listed_ = true;
    folder_modified_ns_ = facts.modified_ns;
  }
  while (probe_behind(folder)) {
  }
  probe_between(folder, kNumbersBetween);
  return {};
}

void JournalFile::add_segment(uint32_t number) {
  const auto at = std::lower_bound(segments_.begin(), segments_.end(), number,
                                   [](const SegmentState& known, uint32_t wanted) { return known.number < wanted; });
  if (at != segments_.end() && at->number == number) return;
  first_unfinished_ = std::min(first_unfinished_, static_cast<size_t>(at - segments_.begin()));
  segments_.insert(at, SegmentState{})->number = number;
}

/// Adds the next segment behind the last, if there is one.
bool JournalFile::probe_behind(Directory& folder) {
  const uint32_t last = segments_.empty() ? 0 : segments_.back().number;
  for (uint32_t number = last + 1; number <= last + kNumbersProbed; ++number) {
    if (!exists(folder, number)) continue;
    add_segment(number);
    return true;
  }
  return false;
}

/// Adds segments with numbers that lie between two that are known, no more than `reach` before the last.
void JournalFile::probe_between(Directory& folder, uint32_t reach) {
  std::vector<uint32_t> missing;
  for (size_t i = segments_.size(); i > 1; --i) {
    const uint32_t before = segments_[i - 2].number;
    if (segments_.back().number - before > reach) break;
    for (uint32_t number = segments_[i - 1].number - 1; number > before && missing.size() < kMostMissing; --number) {
      missing.push_back(number);
    }
  }
  for (const uint32_t number : missing) {
    if (exists(folder, number)) add_segment(number);
  }
}

}  // namespace goodput::journal
