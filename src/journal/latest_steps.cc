// SPDX-License-Identifier: Apache-2.0
#include "journal/latest_steps.h"

#include <algorithm>

#include "journal/folder_names.h"
#include "journal/recover.h"
#include "journal/sealed_reader.h"

namespace goodput::journal {
namespace {

constexpr uint64_t kStepBit = uint64_t{1} << static_cast<unsigned>(event::Kind::kStepStart);

void add_step(const LiveEvent& event, std::vector<StepAt>& steps) {
  if (event.kind == event::Kind::kStepStart && !event.has_wall_time) steps.push_back({event.value, event.boot_ns});
}

bool add_sealed(Directory& folder, const SegmentHint& hint, Decompressor& decompressor, std::vector<StepAt>& steps) {
  const auto file = folder.open_file(segment_name(hint.segment_number, SegmentForm::kSealed), Access::kRead);
  if (!file.ok()) return false;
  Result<SealedReader> reader = SealedReader::open(**file, hint, SealedReader::Mode::kBlocks, decompressor);
  if (!reader.ok()) return false;
  EventColumns columns;
  for (size_t i = reader->blocks().size(); i-- > 0 && steps.size() < kLatestSteps;) {
    if ((reader->blocks()[i].kinds & kStepBit) == 0 || !reader->read(i, columns)) continue;
    for_each_event(columns, [&](const LiveEvent& event, uint32_t) { add_step(event, steps); });
  }
  return true;
}

void add_live(Directory& folder, const SegmentHint& hint, std::vector<StepAt>& steps) {
  const auto bytes =
      read_whole_file(folder, segment_name(hint.segment_number, SegmentForm::kLive), kMaxReadableSegmentBytes);
  if (!bytes.ok()) return;
  const Result<Segment> segment = recover_live(*bytes, hint);
  if (!segment.ok()) return;
  for (const StoredEvent& stored : segment->events) add_step(stored.event, steps);
}

/// Sorts by time and drops all but the last steps whose numbers rise.
void keep_last_rise(std::vector<StepAt>& steps) {
  std::sort(steps.begin(), steps.end(), [](const StepAt& a, const StepAt& b) { return a.boot_ns < b.boot_ns; });
  size_t first = steps.empty() ? 0 : steps.size() - 1;
  while (first > 0 && steps[first - 1].step < steps[first].step && steps.size() - first < kLatestSteps) --first;
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(first));
}

}  // namespace

std::vector<StepAt> latest_steps(Directory& run_folder, const JournalFile& journal, Decompressor& decompressor) {
  std::vector<StepAt> steps;
  const auto folder = run_folder.open_directory(id_name(journal.id()));
  if (!folder.ok()) return steps;
  for (size_t i = journal.segments().size(); i-- > 0 && steps.size() < kLatestSteps;) {
    const SegmentHint hint{journal.id(), journal.segments()[i].number};
    if (!add_sealed(**folder, hint, decompressor, steps)) add_live(**folder, hint, steps);
  }
  keep_last_rise(steps);
  return steps;
}

}  // namespace goodput::journal
