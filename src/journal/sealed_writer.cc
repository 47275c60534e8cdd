// SPDX-License-Identifier: Apache-2.0
#include "journal/sealed_writer.h"

#include <algorithm>

#include "journal/definitions.h"
#include "journal/folder_names.h"
#include "journal/imported_origins.h"
#include "journal/seal.h"

namespace goodput::journal {
namespace {

using event::Kind;

/// Below the 65,534 ids that there are, by what one event may still add.
constexpr size_t kMaxNames = 65'000;
/// They stand twice in a sealed file of at most 64 MiB, and are read with its front.
constexpr size_t kMaxNameBytes = 4UL << 20;

const event::Detail kNoDetail;

bool is_checkpoint(Kind kind) {
  return (kind >= Kind::kCheckpointSaveStart && kind <= Kind::kCheckpointRestoreEnd) || kind == Kind::kCheckpointSave ||
         kind == Kind::kCheckpointRestore;
}

}  // namespace

Status SealedWriter::append(const event::Event& event, int64_t at_ns) {
  if (form_ == Form::kRecorded && event.kind == Kind::kHeartbeat) {
    alive_ = {at_ns, at_ns};
    ++pairs_;
    return {};
  }
  if (is_full()) RETURN_IF_ERROR(write_segment());
  LiveEvent live = live_event(event, at_ns);
  const uint32_t slots = 1 + (live.has_work() ? 1 : 0) + (live.has_times() ? 1 : 0);
  number_ += slots;
  slot_ += slots;
  live.number = number_ - 1;
  events_.push_back({live, slot_ - 1});
  return {};
}

bool SealedWriter::is_full() const {
  return events_.size() >= events_per_segment_ || names_.size() >= kMaxNames || name_bytes_ >= kMaxNameBytes;
}

/// The reverse of EventBatch::append().
LiveEvent SealedWriter::live_event(const event::Event& event, int64_t at_ns) {
  const event::Detail& detail = event.detail == nullptr ? kNoDetail : *event.detail;
  LiveEvent live{.kind = event.kind,
                 .flags = event.flags,
                 .boot_ns = at_ns,
                 .value = event.step,
                 .duration_ns = event.duration_ns,
                 .tokens = detail.tokens,
                 .samples = detail.samples,
                 .flops = detail.flops};
  if (is_checkpoint(event.kind)) {
    live.name = name_id(detail.location);
  } else if (event.kind == Kind::kSliceCounts) {
    live.value = pack_slices({detail.active_slices, detail.total_slices, detail.available_slices});
  } else if (event.kind == Kind::kProcessExit) {
    live.value = event.exit_value;
  } else if (event.kind == Kind::kDisruption) {
    live.name = name_id(detail.cause);
    live.value = name_id(detail.text);
  } else {
    live.name = name_id(event.name);
  }
  if (form_ == Form::kRecorded) {
    live.has_wall_time = at_ns != event.time_ns;
    if (live.has_wall_time) live.wall_ns = event.time_ns;
    return live;
  }
  live.is_imported = true;
  live.imported = {.position = event.position, .fingerprint = event.fingerprint};
  if (event.origin == nullptr) return live;
  if (event.origin != latest_origin_) {
    latest_origin_ = event.origin;
    latest_origin_id_ = name_id(origin_text(*event.origin));
  }
  live.imported.origin = latest_origin_id_;
  return live;
}

uint16_t SealedWriter::name_id(std::string_view text) {
  if (text.empty()) return kNoName;
  const std::string_view kept = cut_text(text, kMaxDefinitionBytes);
  const auto known = names_.find(kept);
  if (known != names_.end()) return known->second;
  if (kept.size() < text.size()) counters_[Counter::kCutText] += 1;
  const auto id = static_cast<uint16_t>(names_.size() + 1);
  names_.emplace(kept, id);
  name_bytes_ += kept.size();
  return id;
}

Status SealedWriter::write_segment() {
  Segment segment;
  segment.header = header_;
  segment.header.segment_number = ++written_;
  for (const auto& [text, id] : names_) segment.names.add(id, text);
  segment.events = std::move(events_);
  if (number_ > first_number_) segment.lanes.add(0, first_number_, number_, number_ - first_number_);
  segment.counters = counters_;
  segment.clock.pairs = pairs_;
  segment.clock.latest = alive_;
  RETURN_IF_ERROR(replace_file(*folder_, segment_name(written_, SegmentForm::kSealed), sealing_name(written_),
                               seal_segment(segment)));
  events_.clear();
  names_.clear();
  name_bytes_ = 0;
  slot_ = 0;
  first_number_ = number_;
  latest_origin_ = nullptr;
  return {};
}

Status SealedWriter::finish() { return write_segment(); }

}  // namespace goodput::journal
