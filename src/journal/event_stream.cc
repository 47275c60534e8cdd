// SPDX-License-Identifier: Apache-2.0
#include "journal/event_stream.h"

#include <algorithm>

#include "journal/folder_names.h"
#include "journal/predictors.h"
#include "journal/recover.h"

namespace goodput::journal {

int64_t JournalView::first_ns(const TimeBounds& times) const {
  int64_t first = std::numeric_limits<int64_t>::max();
  if (times.has_boot()) first = wrapping_add(times.first_boot_ns, wall_less_boot_ns);
  if (times.has_wall()) first = std::min(first, times.first_wall_ns);
  return first;
}

int64_t JournalView::last_ns(const TimeBounds& times) const {
  int64_t last = std::numeric_limits<int64_t>::min();
  if (times.has_boot()) last = wrapping_add(times.last_boot_ns, wall_less_boot_ns);
  if (times.has_wall()) last = std::max(last, times.last_wall_ns);
  return last;
}

event::Position JournalView::position_of(int64_t boot_ns, uint32_t segment, uint32_t slot) const {
  const int64_t wall_ns = std::max<int64_t>(wrapping_add(boot_ns, wall_less_boot_ns), 0);
  return {static_cast<uint64_t>(wall_ns), writer_bits | (uint64_t{segment} << kSlotBits) | slot};
}

void EventStream::add(JournalView& journal, FreshPart part) {
  const int64_t first_ns = journal.first_ns(part.times);
  if (!overlaps(first_ns, journal.last_ns(part.times))) return;
  push({.what = Item::What::kPart, .time_ns = first_ns, .position = {}, .index = parts_.size(), .block = 0});
  Part& added = parts_.emplace_back();
  added.journal = &journal;
  added.names = part.names;
  added.fresh = std::move(part);
}

void EventStream::add(JournalView& journal, const SegmentState& segment) {
  if (segment.events == 0) return;
  add(journal, FreshPart{.number = segment.number,
                         .is_sealed = segment.is_finished,
                         .window = segment.given_out(),
                         .after_boot_ns = std::numeric_limits<int64_t>::min(),
                         .count = segment.events,
                         .events = {},
                         .names = nullptr,
                         .times = segment.times});
}

void EventStream::add(std::vector<event::Event> events) {
  Run& run = new_run(kNoPart);
  run.batch.mutable_events() = std::move(events);
  keep_wanted({}, run.batch);
  run.batch.sort();
  start_run(run);
}

Status EventStream::run(event::Source::Sink sink) {
  while (!heap_.empty()) {
    const Item item = pop();
    if (item.time_ns >= range_.to_ns) break;
    if (item.what == Item::What::kPart) {
      open_part(item.index);
    } else if (item.what == Item::What::kBlock) {
      load_block(item.index, item.block);
    } else if (!hand_out(item.index, sink)) {
      return {};
    }
  }
  flush(sink);
  return {};
}

/// For a heap whose top stands first. What is not open yet stands before a run's event of the same time: it may hold an
/// event with an earlier position.
bool EventStream::stands_after(const Item& a, const Item& b) {
  if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
  const bool a_is_run = a.what == Item::What::kRun, b_is_run = b.what == Item::What::kRun;
  if (a_is_run != b_is_run) return a_is_run;
  return a.position > b.position;
}

bool EventStream::stands_before_item(const event::Event& event, const Item& item) {
  if (event.time_ns != item.time_ns) return event.time_ns < item.time_ns;
  return item.what == Item::What::kRun && event.position < item.position;
}

void EventStream::push(const Item& item) {
  heap_.push_back(item);
  std::push_heap(heap_.begin(), heap_.end(), stands_after);
}

EventStream::Item EventStream::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), stands_after);
  const Item item = heap_.back();
  heap_.pop_back();
  return item;
}

void EventStream::open_part(size_t index) {
  Part& part = parts_[index];
  if (!part.fresh.events.empty()) {
    load_events(index);
    return;
  }
  const Result<std::unique_ptr<Directory>> folder =
      part.journal->run_folder->open_directory(id_name(part.journal->file->id()));
  bool opened = false;
  if (folder.ok()) {
    // A segment may have been sealed since it was seen live; one of the two forms is always there.
    opened = part.fresh.is_sealed ? open_sealed(index, **folder) || open_live(index, **folder)
                                  : open_live(index, **folder) || open_sealed(index, **folder);
  }
  if (!opened && range_.states_losses) {
    part.journal->file->add_loss({.reason = LossReason::kCutShort, .at_most = true, .events = part.fresh.count});
  }
}

bool EventStream::open_sealed(size_t index, Directory& folder) {
  Part& part = parts_[index];
  const JournalView& journal = *part.journal;
  auto file = folder.open_file(segment_name(part.fresh.number, SegmentForm::kSealed), Access::kRead);
  if (!file.ok()) return false;
  part.file = std::move(file).value();
  const bool needs_all =
      range_.from_ns <= journal.first_ns(part.fresh.times) && range_.to_ns > journal.last_ns(part.fresh.times);
  Result<SealedReader> reader =
      SealedReader::open(*part.file, {journal.file->id(), part.fresh.number},
                         needs_all ? SealedReader::Mode::kWhole : SealedReader::Mode::kBlocks, *decompressor_);
  if (!reader.ok()) return false;
  part.reader = std::move(reader).value();
  part.names = std::make_shared<NameTable>(part.reader->front().names);
  for (size_t i = 0; i < part.reader->blocks().size(); ++i) {
    const BlockFacts& block = part.reader->blocks()[i];
    const int64_t first_ns = journal.first_ns(block.times);
    if ((block.kinds & journal.file->wanted_kinds()) == 0 || !overlaps(first_ns, journal.last_ns(block.times)))
      continue;
    ++part.blocks_left;
    push({.what = Item::What::kBlock, .time_ns = first_ns, .position = {}, .index = index, .block = i});
  }
  if (part.blocks_left == 0) close_part(part);
  return true;
}

bool EventStream::open_live(size_t index, Directory& folder) {
  Part& part = parts_[index];
  const auto bytes =
      read_whole_file(folder, segment_name(part.fresh.number, SegmentForm::kLive), kMaxReadableSegmentBytes);
  if (!bytes.ok()) return false;
  Result<Segment> segment = recover_live(*bytes, SegmentHint{part.journal->file->id(), part.fresh.number});
  if (!segment.ok()) return false;
  part.fresh.events = std::move(segment->events);
  part.names = std::make_shared<NameTable>(std::move(segment->names));
  load_events(index);
  return true;
}

void EventStream::load_events(size_t index) {
  Part& part = parts_[index];
  const JournalView& journal = *part.journal;
  Run& run = new_run(index);
  const EventContext context{.wall_less_boot_ns = journal.wall_less_boot_ns,
                             .position_base = journal.writer_bits | (uint64_t{part.fresh.number} << kSlotBits),
                             .origin = journal.origins.front().origin,
                             .names = part.names.get(),
                             .imported = journal.imported};
  for (const StoredEvent& stored : part.fresh.events) run.batch.append(stored, context);
  part.fresh.events = {};
  part.blocks_left = 1;
  keep_wanted(part, run.batch);
  set_origins(journal, run.batch.events());
  run.batch.sort();
  start_run(run);
}

void EventStream::load_block(size_t index, size_t block) {
  Part& part = parts_[index];
  const JournalView& journal = *part.journal;
  const BlockFacts& facts = part.reader->blocks()[block];
  Run& run = new_run(index);
  if (part.reader->read(block, columns_)) {
    run.batch.append(columns_, {.wall_less_boot_ns = journal.wall_less_boot_ns,
                                .position_base = journal.writer_bits | (uint64_t{part.fresh.number} << kSlotBits),
                                .origin = journal.origins.front().origin,
                                .names = part.names.get(),
                                .imported = journal.imported});
    const bool is_all_wanted =
        (range_.with_untimed || journal.imported == nullptr) && (facts.kinds & ~journal.file->wanted_kinds()) == 0 &&
        part.fresh.window.is_everything() && part.fresh.after_boot_ns == std::numeric_limits<int64_t>::min() &&
        range_.from_ns <= journal.first_ns(facts.times) && range_.to_ns > journal.last_ns(facts.times);
    if (!is_all_wanted) keep_wanted(part, run.batch);
    set_origins(journal, run.batch.events());
    run.batch.sort();
  } else if (range_.states_losses) {
    part.journal->file->add_loss({.reason = LossReason::kDamagedBlock, .events = facts.events, .bytes = facts.bytes});
  }
  start_run(run);
}

EventStream::Run& EventStream::new_run(size_t part) {
  if (free_runs_.empty()) {
    free_runs_.push_back(runs_.size());
    runs_.push_back(std::make_unique<Run>());
  }
  Run& run = *runs_[free_runs_.back()];
  run.batch.clear();
  run.next = 0;
  run.part = part;
  return run;
}

/// Gives the run that new_run() returned last its place in the order, or takes it back when it is empty.
void EventStream::start_run(Run& run) {
  const size_t index = free_runs_.back();
  free_runs_.pop_back();
  if (run.batch.events().empty()) {
    end_run(index);
    return;
  }
  const event::Event& first = run.batch.events().front();
  push({.what = Item::What::kRun, .time_ns = first.time_ns, .position = first.position, .index = index, .block = 0});
}

void EventStream::keep_wanted(const Part& part, EventBatch& batch) const {
  const uint64_t kinds = part.journal == nullptr ? ~uint64_t{0} : part.journal->file->wanted_kinds();
  const SlotWindow& window = part.fresh.window;
  const bool all_slots = window.is_everything();
  const bool all_recorded = part.fresh.after_boot_ns == std::numeric_limits<int64_t>::min();
  const uint64_t after =
      all_recorded ? 0 : part.journal->position_of(part.fresh.after_boot_ns, part.fresh.number, 0).major;
  constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  std::erase_if(batch.mutable_events(), [&](const event::Event& event) {
    return event.time_ns < range_.from_ns || event.time_ns >= range_.to_ns ||
           (event.has(event::kUntimed) && !range_.with_untimed) ||
           (kinds >> static_cast<unsigned>(event.kind) & 1) == 0 || (!all_recorded && event.position.major <= after) ||
           (!all_slots && !window.contains(static_cast<uint32_t>(event.position.minor & kSlotMask)));
  });
}

void EventStream::set_origins(const JournalView& journal, std::span<event::Event> events) const {
  if (journal.origins.size() == 1) return;
  for (event::Event& event : events) {
    const auto behind = std::upper_bound(
        journal.origins.begin() + 1, journal.origins.end(), event.position,
        [](const event::Position& position, const OriginFrom& from) { return position < from.position; });
    event.origin = std::prev(behind)->origin;
  }
}

/// Hands out a run's events up to the first that does not stand before all else.
bool EventStream::hand_out(size_t index, event::Source::Sink sink) {
  Run& run = *runs_[index];
  const std::span<event::Event> left = run.batch.events().subspan(run.next);
  size_t count = left.size();
  if (!heap_.empty() && !stands_before_item(left.back(), heap_.front())) {
    if (heap_.front().what == Item::What::kRun) return interleave(index, pop().index, sink);
    count = static_cast<size_t>(
        std::partition_point(left.begin() + 1, left.end(),
                             [&](const event::Event& event) { return stands_before_item(event, heap_.front()); }) -
        left.begin());
  }
  if (!flush(sink) || !sink(left.first(count))) return false;
  run.next += count;
  return put_back(index, sink);
}

/// Two runs, as of two threads, merged up to the first event that does not stand before everything else. Gathered: a
/// sink that is called for each would cost more than the events do.
bool EventStream::interleave(size_t first, size_t second, event::Source::Sink sink) {
  Run& a = *runs_[first];
  Run& b = *runs_[second];
  const std::span<event::Event> as = a.batch.events(), bs = b.batch.events();
  // The first event always goes: another may have the very same place where files were tampered with.
  for (bool is_first = true; a.next < as.size() && b.next < bs.size(); is_first = false) {
    Run& run = stands_before(bs[b.next], as[a.next]) ? b : a;
    const event::Event& event = run.batch.events()[run.next];
    if (!is_first && !heap_.empty() && !stands_before_item(event, heap_.front())) break;
    ++run.next;
    gathered_.push_back(event);
    if (gathered_.size() >= kGathered && !flush(sink)) return false;
  }
  return put_back(first, sink) && put_back(second, sink);
}

/// Gives what is left of a run its place in the order; lets go of one of which nothing is left.
bool EventStream::put_back(size_t index, event::Source::Sink sink) {
  Run& run = *runs_[index];
  if (run.next < run.batch.events().size()) {
    const event::Event& first = run.batch.events()[run.next];
    push({.what = Item::What::kRun, .time_ns = first.time_ns, .position = first.position, .index = index, .block = 0});
    return true;
  }
  // What was gathered points into what is let go now.
  if (!flush(sink)) return false;
  end_run(index);
  return true;
}

bool EventStream::flush(event::Source::Sink sink) {
  if (gathered_.empty()) return true;
  const bool goes_on = sink(gathered_);
  gathered_.clear();
  return goes_on;
}

void EventStream::end_run(size_t index) {
  Run& run = *runs_[index];
  free_runs_.push_back(index);
  if (run.part == kNoPart) return;
  Part& part = parts_[run.part];
  if (--part.blocks_left == 0) close_part(part);
}

void EventStream::close_part(Part& part) {
  part.reader.reset();
  part.file.reset();
  part.names.reset();
}

bool EventStream::overlaps(int64_t first_ns, int64_t last_ns) const {
  return first_ns <= last_ns && first_ns < range_.to_ns && last_ns >= range_.from_ns;
}

}  // namespace goodput::journal
