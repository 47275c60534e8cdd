// SPDX-License-Identifier: Apache-2.0
#include "journal/journal_file.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "journal/definitions.h"
#include "journal/folder_names.h"
#include "journal/recover.h"
#include "journal/run_scan.h"

namespace goodput::journal {
namespace {

// Runs are handed out in order, and written the moment they are: with so many untouched ones in a row there are no
// more. One is untouched for the time between a thread's taking it and its first store, unless the thread is stopped
// there.
constexpr uint32_t kRunsProbed = 4;

constexpr uint64_t kCheckpointStatistics = uint64_t{1} << static_cast<unsigned>(event::Kind::kCheckpointSave) |
                                           uint64_t{1} << static_cast<unsigned>(event::Kind::kCheckpointRestore);

std::vector<std::byte> read_part(const File& file, uint64_t offset, size_t size) {
  std::vector<std::byte> bytes(size);
  const Result<size_t> got = file.read_at(offset, bytes);
  bytes.resize(got.ok() ? *got : 0);
  return bytes;
}

bool says_all_names(const NameTable& names, std::span<const StoredEvent> events) {
  return std::all_of(events.begin(), events.end(), [&](const StoredEvent& stored) {
    const auto ids = name_ids(stored.event);
    return std::all_of(ids.begin(), ids.end(), [&](uint16_t id) { return names.contains(id); });
  });
}

}  // namespace

bool SlotWindow::contains(uint32_t slot) const {
  if (slot < first_slot) return true;
  const uint32_t run = (slot - first_slot) / kRunSlots;
  const uint32_t place = (slot - first_slot) % kRunSlots;
  if (run < from.size() && place < from[run]) return false;
  // A run behind those that were consumed was not seen yet.
  return to.empty() || (run < to.size() && place < to[run]);
}

SlotWindow SegmentState::given_out() const {
  if (is_finished) return {};
  // Without any run that was looked at, nothing: and not, as an empty list would say, everything.
  return {first_slot, {}, consumed.empty() ? std::vector<uint8_t>{0} : consumed};
}

Status JournalFile::refresh(Directory& run_folder, const Observer& observer, Decompressor& decompressor,
                            std::vector<FreshPart>& fresh) {
  if (has_ended_ || !facts_.refused.empty()) return {};
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, run_folder.open_directory(id_name(id_)));
  observer_ = observer;
  has_live_files_ = false;
  RETURN_IF_ERROR(find_segments(*folder));
  for (size_t i = first_unfinished_; i < segments_.size(); ++i) {
    if (!segments_[i].is_finished) refresh_segment(*folder, segments_[i], false, decompressor, fresh);
  }

  if (facts_.header) facts_.is_dead = is_dead(*facts_.header, facts_.pulse, observer);
  if (facts_.is_dead) {
    // Nobody writes any more: what is there is all there will be.
    for (size_t i = first_unfinished_; i < segments_.size(); ++i) {
      if (!segments_[i].is_finished) refresh_segment(*folder, segments_[i], true, decompressor, fresh);
    }
  }
  while (first_unfinished_ < segments_.size() && segments_[first_unfinished_].is_finished) ++first_unfinished_;
  if (facts_.is_dead && first_unfinished_ == segments_.size()) {
    has_ended_ = true;
    ended_boot_ns_ = facts_.last_event_boot_ns;
  }
  return {};
}

void JournalFile::look_again(Directory& run_folder, const Observer& observer) {
  if (!has_ended_ || !facts_.header) return;
  // Of another boot nobody comes back, unless it is another machine's, which was only silent.
  const bool is_copied = (facts_.header->header_flags & kStagedFlag) != 0;
  if (facts_.header->boot_id != observer.boot_id && !is_copied) return;
  const auto folder = run_folder.open_directory(id_name(id_));
  if (!folder.ok()) return;
  const Result<FileFacts> facts = folder.value()->facts();
  if (!facts.ok() || facts->modified_ns == folder_modified_ns_) return;
  has_ended_ = false;
  // What was written when it was stopped is among its last segments; the writer makes them anew when others sealed
  // them.
  constexpr size_t kRecent = 4;
  const size_t recent = segments_.size() < kRecent ? 0 : segments_.size() - kRecent;
  for (size_t i = recent; i < segments_.size(); ++i) {
    segments_[i].is_finished = false;
    segments_[i].is_revived = true;
  }
  first_unfinished_ = std::min(first_unfinished_, recent);
}

std::vector<Loss> JournalFile::losses() const {
  std::vector<Loss> all = losses_;
  for (size_t i = first_unfinished_; i < segments_.size(); ++i) {
    for (const Loss& loss : segments_[i].losses) goodput::journal::add_loss(all, loss);
  }
  // Before the end a number that is missing may still be written.
  const bool from_start = !segments_.empty() && segments_.front().number == 1;
  const uint64_t missing = has_ended_ ? lanes_.missing_slots(from_start) : 0;
  goodput::journal::add_loss(
      all, {.reason = LossReason::kMissingNumber, .at_most = true, .events = missing, .bytes = missing * kSlotBytes});
  return all;
}

/// Live form, sealed form; the live one is removed only when the sealed one is there.
void JournalFile::refresh_segment(Directory& folder, SegmentState& segment, bool final, Decompressor& decompressor,
                                  std::vector<FreshPart>& fresh) {
  for (int tries = 0; tries < 2; ++tries) {
    const auto live = folder.open_file(segment_name(segment.number, SegmentForm::kLive), Access::kRead);
    has_live_files_ = has_live_files_ || live.ok();
    if (live.ok()) {
      if (final ? finish_live(*live.value(), segment, fresh) : follow_live(*live.value(), segment, fresh)) return;
    } else if (live.status().code() != StatusCode::kNotFound) {
      return;
    }
    if (finish_sealed(folder, segment, final, decompressor, fresh)) return;
  }
  // Neither form: it was prepared and never used, or dropped by the disk budget.
  if (final) finish(segment, {}, {});
}

/// Takes what was written since. False when the file says nothing of itself yet.
bool JournalFile::follow_live(const File& file, SegmentState& segment, std::vector<FreshPart>& fresh) {
  const std::vector<std::byte> first_page = read_part(file, 0, kPageBytes);
  Result<LiveHeader> header = find_header(first_page);
  if (header.status().code() == StatusCode::kUnsupported) {
    facts_.refused = header.status().message();
    return true;
  }
  if (!header.ok()) {
    const std::vector<std::byte> whole = read_part(file, 0, kMaxReadableSegmentBytes);
    header = find_header(whole);
    if (!header.ok()) return true;  // being prepared, or damaged: recovery has the last word
  }
  const LiveLayout layout = header->layout();
  const uint32_t seed = header->seed();
  if (seed != segment_seed(id_, segment.number)) return true;  // another's content: the same
  segment.first_slot = layout.runs_offset / kSlotBytes;
  segment.consumed.resize(layout.runs);

  Segment front;
  front.header = std::move(header).value();
  front.clock = read_clock_slots(first_page, seed);
  front.counters = read_counters(first_page, {}, seed);
  note_front(front);

  std::vector<StoredEvent> events;
  find_touched_runs(file, layout, segment);
  for (uint32_t run = 0; run < segment.first_untouched_run; ++run) {
    if (segment.consumed[run] < kRunSlots) follow_run(file, layout, seed, run, segment, events);
  }
  if (events.empty()) return true;
  if (segment.names == nullptr || !says_all_names(*segment.names, events)) {
    const std::vector<std::byte> area = read_part(file, layout.definitions_offset, layout.definitions_bytes);
    const std::vector<std::byte> mirror = read_part(file, layout.mirror_definitions_offset, layout.definitions_bytes);
    auto names = std::make_shared<NameTable>();
    for (const Definition& definition : read_definitions(area, mirror, seed)) {
      names->add(definition.id, definition.text);
    }
    for (const StoredEvent& stored : events) {
      for (const uint16_t id : name_ids(stored.event)) {
        if (!names->contains(id)) names->add_lost(id);
      }
    }
    segment.names = std::move(names);
  }
  give_out(segment, std::move(events), segment.names, fresh);
  return true;
}

/// Runs are handed out in order: goes on from where the last one was seen.
void JournalFile::find_touched_runs(const File& file, const LiveLayout& layout, SegmentState& segment) {
  for (uint32_t run = segment.first_untouched_run;
       run < std::min(layout.runs, segment.first_untouched_run + kRunsProbed); ++run) {
    const std::vector<std::byte> first = read_part(file, layout.runs_offset + uint64_t{run} * kRunBytes, kSlotBytes);
    const bool is_touched =
        std::any_of(first.begin(), first.end(), [](std::byte byte) { return byte != std::byte{0}; });
    if (is_touched) segment.first_untouched_run = run + 1;
  }
}

void JournalFile::follow_run(const File& file, const LiveLayout& layout, uint32_t seed, uint32_t run,
                             SegmentState& segment, std::vector<StoredEvent>& events) const {
  const uint64_t offset = layout.runs_offset + uint64_t{run} * kRunBytes;
  RunScan scan;
  for (int tries = 0; tries < 2; ++tries) {
    scan = RunScan{};
    scan_run(read_part(file, offset, kRunBytes), segment.first_slot + run * kRunSlots, seed,
             {.from = segment.consumed[run], .final = false, .before_boot_ns = horizon_ns()}, scan);
    // A store may have been half way through while it was read.
    if (!scan.damaged) break;
  }
  segment.consumed[run] = static_cast<uint8_t>(std::max<uint32_t>(segment.consumed[run], scan.consumed));
  events.insert(events.end(), scan.events.begin(), scan.events.end());
  for (const Loss& loss : scan.losses) goodput::journal::add_loss(segment.losses, loss);
}

/// Takes all that is left of a segment to which nobody writes any more.
bool JournalFile::finish_live(const File& file, SegmentState& segment, std::vector<FreshPart>& fresh) {
  const Result<Segment> whole = recover_live(read_part(file, 0, kMaxReadableSegmentBytes), hint(segment));
  if (whole.status().code() == StatusCode::kUnsupported) {
    facts_.refused = whole.status().message();
    return true;
  }
  if (!whole.ok()) {
    finish(segment, {}, {});
    return true;
  }
  note_front(*whole);
  const SlotWindow rest{whole->header.layout().runs_offset / kSlotBytes, segment.consumed, {}};
  std::vector<StoredEvent> events;
  for (const StoredEvent& stored : whole->events) {
    if (rest.contains(stored.slot)) events.push_back(stored);
  }
  segment.first_slot = rest.first_slot;
  give_out(segment, std::move(events), std::make_shared<NameTable>(whole->names), fresh);
  finish(segment, whole->losses, whole->lanes);
  return true;
}

bool JournalFile::finish_sealed(Directory& folder, SegmentState& segment, bool final, Decompressor& decompressor,
                                std::vector<FreshPart>& fresh) {
  const auto file = folder.open_file(segment_name(segment.number, SegmentForm::kSealed), Access::kRead);
  if (!file.ok()) return false;
  Result<SealedReader> reader =
      SealedReader::open(*file.value(), hint(segment), SealedReader::Mode::kBlocks, decompressor);
  if (!reader.ok()) {
    if (reader.status().code() == StatusCode::kUnsupported) facts_.refused = reader.status().message();
    return reader.status().code() == StatusCode::kUnsupported;
  }
  note_front(reader->front());
  const auto is_behind_horizon = [&](const BlockFacts& block) { return block.times.last_boot_ns >= horizon_ns(); };
  if (!final && std::any_of(reader->blocks().begin(), reader->blocks().end(), is_behind_horizon)) return true;
  FreshPart part{.number = segment.number,
                 .is_sealed = true,
                 .window = {segment.first_slot, segment.consumed, {}},
                 .after_boot_ns = segment.is_revived ? ended_boot_ns_ : std::numeric_limits<int64_t>::min(),
                 .count = 0,
                 .events = {},
                 .names = nullptr,
                 .times = {}};
  if (std::all_of(segment.consumed.begin(), segment.consumed.end(), [](uint8_t slots) { return slots == 0; })) {
    part.window = {};
  }
  segment.times = {};
  segment.events = 0;
  segment.kinds = 0;
  constexpr uint64_t kJobStartBit = uint64_t{1} << static_cast<unsigned>(event::Kind::kJobStart);
  EventColumns columns;
  for (size_t i = 0; i < reader->blocks().size(); ++i) {
    const BlockFacts& block = reader->blocks()[i];
    facts_.last_event_boot_ns = std::max(facts_.last_event_boot_ns, block.times.last_boot_ns);
    if ((block.kinds & wanted_kinds_ & kJobStartBit) != 0 && reader->read(i, columns)) {
      std::vector<StoredEvent> events;
      for_each_event(columns, [&](const LiveEvent& event, uint32_t slot) { events.push_back({event, slot}); });
      note_job_starts(events, segment.number);
    }
    if ((block.kinds & wanted_kinds_) == 0) continue;
    segment.events += block.events;
    segment.kinds |= block.kinds;
    segment.times.add(block.times);
  }
  part.times = segment.times;
  part.count = segment.events;
  if (segment.events > 0) fresh.push_back(std::move(part));
  finish(segment, reader->front().losses, reader->front().lanes);
  return true;
}

/// Of a process on this machine only what it recorded before this refresh began is given out. Then of each thread a
/// beginning is given, whatever the order in which its runs and segments are looked at: what it recorded earlier than
/// an event from before that moment was stored before it, too.
int64_t JournalFile::horizon_ns() const {
  const bool same_clock = facts_.header && !observer_.boot_id.empty() && facts_.header->boot_id == observer_.boot_id;
  return same_clock ? observer_.now.boot_ns : std::numeric_limits<int64_t>::max();
}

void JournalFile::give_out(SegmentState& segment, std::vector<StoredEvent> events,
                           std::shared_ptr<const NameTable> names, std::vector<FreshPart>& fresh) {
  FreshPart part{
      .number = segment.number, .is_sealed = false, .window = {}, .events = {}, .names = std::move(names), .times = {}};
  part.events.reserve(events.size());
  for (const StoredEvent& stored : events) {
    facts_.last_event_boot_ns = std::max(facts_.last_event_boot_ns, stored.event.boot_ns);
    if ((wanted_kinds_ >> static_cast<unsigned>(stored.event.kind) & 1) == 0) continue;
    if (segment.is_revived && stored.event.boot_ns <= ended_boot_ns_) continue;
    part.events.push_back(stored);
    part.times.add(stored.event);
    segment.kinds |= uint64_t{1} << static_cast<unsigned>(stored.event.kind);
  }
  if (part.events.empty()) return;
  segment.events += static_cast<uint32_t>(part.events.size());
  segment.times.add(part.times);
  note_job_starts(part.events, segment.number);
  fresh.push_back(std::move(part));
}

void JournalFile::set_header(const LiveHeader& header) {
  facts_.header = header;
  facts_.pulse = {header.open_boot_ns, header.open_wall_ns};
  if (header.role.empty() && header.process_index != 0) wanted_kinds_ = kCheckpointStatistics;
}

/// What any segment says of its whole journal.
void JournalFile::note_front(const Segment& front) {
  // One that lost its header says neither job nor clock.
  if (!facts_.header && front.header.open_wall_ns != 0) set_header(front.header);
  // Where live segments are copies (live_copy.h), sealed ones do not say so.
  if (facts_.header) facts_.header->header_flags |= front.header.header_flags & kStagedFlag;
  if (front.clock.pairs > 0 && front.clock.latest.boot_ns > facts_.pulse.boot_ns) facts_.pulse = front.clock.latest;
  for (size_t i = 0; i < front.counters.counts.size(); ++i) {
    facts_.counters.counts[i] = std::max(facts_.counters.counts[i], front.counters.counts[i]);
  }
  for (size_t i = 0; i < front.clock.step_count; ++i) {
    const ClockStep& step = front.clock.steps[i];
    const bool known = std::any_of(facts_.clock_steps.begin(), facts_.clock_steps.end(),
                                   [&](const ClockStep& other) { return other.after.boot_ns == step.after.boot_ns; });
    if (!known) facts_.clock_steps.push_back(step);
  }
}

void JournalFile::note_job_starts(std::span<const StoredEvent> events, uint32_t number) {
  for (const StoredEvent& stored : events) {
    if (stored.event.kind != event::Kind::kJobStart) continue;
    const Facts::JobStart start{stored.event.boot_ns, number, stored.slot};
    const auto at =
        std::lower_bound(facts_.job_starts.begin(), facts_.job_starts.end(), start,
                         [](const Facts::JobStart& a, const Facts::JobStart& b) {
                           return std::tie(a.boot_ns, a.segment, a.slot) < std::tie(b.boot_ns, b.segment, b.slot);
                         });
    if (at != facts_.job_starts.end() && at->segment == start.segment && at->slot == start.slot) continue;
    facts_.job_starts.insert(at, start);
  }
}

void JournalFile::finish(SegmentState& segment, std::vector<Loss> losses, const LaneExtents& lanes) {
  segment.is_finished = true;
  segment.consumed.clear();
  segment.consumed.shrink_to_fit();
  segment.names.reset();
  segment.losses.clear();
  if (segment.is_revived) return;  // counted when it was finished first
  for (const Loss& loss : losses) add_loss(loss);
  lanes_.add(lanes);
}

}  // namespace goodput::journal
