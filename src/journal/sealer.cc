// SPDX-License-Identifier: Apache-2.0
#include "journal/sealer.h"

#include <unistd.h>

#include <algorithm>

#include "journal/folder_names.h"
#include "journal/liveness.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/sealed_format.h"

namespace goodput::journal {
namespace {

constexpr uint64_t kMaxLiveFileBytes = kMaxReadableSegmentBytes;

/// From the number in the file's name; the id comes from the header, or from the slots.
std::optional<SegmentHint> hint_of(const std::optional<std::array<uint8_t, 16>>& id, uint32_t number) {
  if (!id) return std::nullopt;
  return SegmentHint{*id, number};
}

bool is_blank(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

/// Adds to `segment` the events that only `other` has: both are of one segment.
void join(Segment& segment, const Segment& other) {
  std::vector<StoredEvent> joined;
  std::set_union(segment.events.begin(), segment.events.end(), other.events.begin(), other.events.end(),
                 std::back_inserter(joined),
                 [](const StoredEvent& a, const StoredEvent& b) { return a.slot < b.slot; });
  segment.events = std::move(joined);
  for (const auto& [id, text] : other.names.texts()) segment.names.add(id, text);
}

/// Prepared ahead, and then its process died. The first segment stays: it says who wrote the journal.
bool was_never_used(const Segment& segment) {
  return segment.header.segment_number != 1 && segment.events.empty() && segment.lanes.lanes().empty() &&
         segment.losses.empty() && segment.clock.pairs == 0;
}

Status unavailable(std::string why) { return Status(StatusCode::kUnavailable, "sealing a journal: " + std::move(why)); }

struct JournalPulse {
  LiveHeader header;
  ClockPair last;
};

/// From the live segments: the sealed ones are older.
Result<JournalPulse> pulse_of(Directory& folder, const std::vector<uint32_t>& live) {
  std::optional<JournalPulse> pulse;
  for (const uint32_t number : live) {
    const Result<std::vector<std::byte>> bytes =
        read_whole_file(folder, segment_name(number, SegmentForm::kLive), kMaxLiveFileBytes);
    if (!bytes.ok()) continue;
    Result<LiveHeader> header = find_header(*bytes);
    if (header.status().code() == StatusCode::kUnsupported) return header.status();
    if (!header.ok()) continue;
    const ClockSlots clock =
        read_clock_slots(std::span(*bytes).first(std::min<size_t>(bytes->size(), kPageBytes)), header->seed());
    const ClockPair seen = clock.pairs > 0 ? clock.latest : ClockPair{header->open_boot_ns, header->open_wall_ns};
    if (!pulse || seen.boot_ns > pulse->last.boot_ns) pulse = {std::move(header).value(), seen};
  }
  if (!pulse) return unavailable("none of its live segments has a header");
  return *std::move(pulse);
}

std::vector<uint32_t> live_numbers(const std::vector<std::string>& names) {
  std::vector<uint32_t> numbers;
  for (const std::string& name : names) {
    const std::optional<SegmentFileName> parsed = parse_segment_name(name);
    if (parsed && parsed->form == SegmentForm::kLive) numbers.push_back(parsed->number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// Held as long as what is returned.
Result<std::unique_ptr<File>> lock_of(Directory& folder) {
  ASSIGN_OR_RETURN(std::unique_ptr<File> lock, open_or_make_file(folder, kLockFile));
  RETURN_IF_ERROR(lock->lock());
  return lock;
}

Status seal_numbered(Directory& folder, uint32_t number, const std::optional<std::array<uint8_t, 16>>& id) {
  const std::string live_name = segment_name(number, SegmentForm::kLive);
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_whole_file(folder, live_name, kMaxLiveFileBytes));
  if (is_blank(bytes)) return folder.remove_file(live_name);
  ASSIGN_OR_RETURN(Segment segment, recover_live(bytes, hint_of(id, number)));
  if (was_never_used(segment)) return folder.remove_file(live_name);
  const std::string sealed_name = segment_name(number, SegmentForm::kSealed);
  if (const auto before = read_whole_file(folder, sealed_name, kMaxSealedBytes); before.ok()) {
    const Result<Segment> sealed = recover_sealed(*before, hint_of(id, number));
    if (sealed.status().code() == StatusCode::kUnsupported) return sealed.status();
    if (sealed.ok()) join(segment, *sealed);
  }
  RETURN_IF_ERROR(replace_file(folder, sealed_name, sealing_name(number), seal_segment(segment)));
  return folder.remove_file(live_name);
}

}  // namespace

Status seal_file(Directory& journal_folder, uint32_t number) {
  return seal_numbered(journal_folder, number, std::nullopt);
}

Machine this_machine(const Clock& clock) {
  return {.boot_id = read_boot_id(),
          .now = read_pair(clock),
          .pid = static_cast<int64_t>(getpid()),
          .user = static_cast<uint32_t>(geteuid())};
}

Status seal_dead_journal(Directory& journal_folder, const Machine& machine) {
  ASSIGN_OR_RETURN(const FileFacts facts, journal_folder.facts());
  if (facts.owner != machine.user) return unavailable("its folder belongs to another user");
  if (!journal_folder.is_local()) return unavailable("its folder is not on a file system of this machine");
  ASSIGN_OR_RETURN(const std::vector<std::string> names, journal_folder.list());
  std::vector<uint32_t> live = live_numbers(names);
  if (live.empty()) return {};

  ASSIGN_OR_RETURN(const JournalPulse pulse, pulse_of(journal_folder, live));
  // Closing any descriptor of the lock file would drop this process's own lock.
  if (pulse.header.pid == machine.pid && pulse.header.boot_id == machine.boot_id) {
    return unavailable("this process may be writing it");
  }
  if ((pulse.header.header_flags & kStagedFlag) != 0) return unavailable("it is copied here from elsewhere");
  if (!is_dead(pulse.header, pulse.last, {.boot_id = machine.boot_id, .now = machine.now, .is_local = true})) {
    return unavailable("its process was alive a moment ago");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<File> lock, lock_of(journal_folder));

  // Listed again: what was there before the lock was ours may have been sealed by another meanwhile.
  ASSIGN_OR_RETURN(const std::vector<std::string> names_now, journal_folder.list());
  live = live_numbers(names_now);
  for (const uint32_t number : live) RETURN_IF_ERROR(seal_numbered(journal_folder, number, pulse.header.journal_id));
  return {};
}

Status drop_segments(Directory& journal_folder, const Machine& machine, std::span<const uint32_t> numbers) {
  ASSIGN_OR_RETURN(const FileFacts facts, journal_folder.facts());
  if (facts.owner != machine.user) return unavailable("its folder belongs to another user");
  // Closing any descriptor of the lock file drops a lock of this process: a journal with live segments may be its own.
  ASSIGN_OR_RETURN(const std::vector<std::string> names, journal_folder.list());
  if (!live_numbers(names).empty()) return unavailable("it has live segments");
  ASSIGN_OR_RETURN(const std::unique_ptr<File> lock, lock_of(journal_folder));
  for (const uint32_t number : numbers) {
    const Status removed = journal_folder.remove_file(segment_name(number, SegmentForm::kSealed));
    if (!removed.ok() && removed.code() != StatusCode::kNotFound) return removed;
  }
  return {};
}

}  // namespace goodput::journal
