// SPDX-License-Identifier: Apache-2.0
#include "journal/event_batch.h"

#include <algorithm>

#include "journal/predictors.h"

namespace goodput::journal {
namespace {

using event::Event;
using event::Kind;

/// Kinds whose events say more than a step number, and those with a name or something attached: the others are a copy
/// of their shape with time, place and step filled in.
bool is_plain(const EventShape& shape) {
  switch (shape.kind) {
    case Kind::kCheckpointSaveStart:
    case Kind::kCheckpointSaveEnd:
    case Kind::kCheckpointRestoreStart:
    case Kind::kCheckpointRestoreEnd:
    case Kind::kCheckpointSave:
    case Kind::kCheckpointRestore:
    case Kind::kSliceCounts:
    case Kind::kProcessExit:
    case Kind::kDisruption:
      return false;
    default:
      return shape.attached == 0;
  }
}

uint64_t recording_time(int64_t wall_ns) { return wall_ns < 0 ? 0 : static_cast<uint64_t>(wall_ns); }

}  // namespace

uint64_t writer_bits(int64_t process_index, std::string_view role, const std::array<uint8_t, 16>& journal_id) {
  constexpr int kRoleBits = 2, kIdBits = 8, kIndexBits = kWriterBits - kRoleBits - kIdBits;
  constexpr uint64_t kMostIndex = (uint64_t{1} << kIndexBits) - 1;
  const uint64_t index = process_index < 0 ? kMostIndex : std::min(static_cast<uint64_t>(process_index), kMostIndex);
  const uint64_t role_bits = role.empty() ? 0 : role == "launcher" ? 1 : role == "monitor" ? 2 : 3;
  const uint64_t bits = (index << (kRoleBits + kIdBits)) | (role_bits << kIdBits) | journal_id[0];
  return bits << (kSegmentBits + kSlotBits);
}

void EventBatch::append(const EventColumns& columns, const EventContext& context) {
  templates_.clear();
  for (const EventShape& shape : columns.shapes) {
    Template& made = templates_.emplace_back();
    made.event.kind = shape.kind;
    made.event.flags = shape.flags;
    made.event.name = (*context.names)[shape.name];
    made.event.origin = context.origin;
    made.slots = shape.slots();
    made.is_plain = is_plain(shape);
  }
  events_.reserve(events_.size() + columns.shape.size());
  size_t i = 0, next_attachment = 0;
  for (const EventPiece& piece : columns.pieces) {
    uint32_t slot = piece.slot;
    for (const size_t end = i + piece.events; i < end; ++i) {
      const Template& shape = templates_[columns.shape[i]];
      slot += shape.slots;
      if (!shape.is_plain) {
        const bool has_attachment = columns.shapes[columns.shape[i]].attached != 0;
        const EventAttachment* attached = has_attachment ? &columns.attachments[next_attachment++] : nullptr;
        append({event_at(columns, i, attached), slot - 1}, context);
        continue;
      }
      Event& made = events_.emplace_back(shape.event);
      made.time_ns = wrapping_add(columns.boot_ns[i], context.wall_less_boot_ns);
      made.position = {recording_time(made.time_ns), context.position_base | (slot - 1)};
      made.step = columns.value[i];
    }
  }
}

void EventBatch::append(const StoredEvent& stored, const EventContext& context) {
  const LiveEvent& live = stored.event;
  if (live.kind > event::kLastKind) return;
  Event& made = events_.emplace_back();
  const int64_t recorded_ns = wrapping_add(live.boot_ns, context.wall_less_boot_ns);
  made.time_ns = live.has_wall_time ? live.wall_ns : recorded_ns;
  made.position = {recording_time(recorded_ns), context.position_base | stored.slot};
  made.duration_ns = live.duration_ns;
  made.origin = context.origin;
  made.kind = live.kind;
  made.flags = live.flags;
  const std::string_view name = (*context.names)[live.name];
  event::Detail* detail = nullptr;
  switch (live.kind) {
    case Kind::kCheckpointSaveStart:
    case Kind::kCheckpointSaveEnd:
    case Kind::kCheckpointRestoreStart:
    case Kind::kCheckpointRestoreEnd:
    case Kind::kCheckpointSave:
    case Kind::kCheckpointRestore:
      made.step = live.value;
      if (live.name != kNoName) (detail = &new_detail())->location = name;
      break;
    case Kind::kSliceCounts: {
      const SliceCounts counts = unpack_slices(live.value);
      detail = &new_detail();
      detail->active_slices = counts.active;
      detail->total_slices = counts.total;
      detail->available_slices = counts.available;
      break;
    }
    case Kind::kProcessExit:
      made.exit_value = static_cast<int32_t>(live.value);
      break;
    case Kind::kDisruption:
      detail = &new_detail();
      detail->cause = name;
      if (live.value >= 0 && live.value <= kMoreNames) {
        detail->text = (*context.names)[static_cast<uint16_t>(live.value)];
      }
      break;
    default:
      made.step = live.value;
      made.name = name;
      break;
  }
  if (live.has_work()) {
    if (detail == nullptr) detail = &new_detail();
    detail->tokens = live.tokens;
    detail->samples = live.samples;
    detail->flops = live.flops;
  }
  made.detail = detail;
  if (!live.is_imported) return;
  made.position = live.imported.position;
  made.fingerprint = live.imported.fingerprint;
  if (context.imported != nullptr) made.origin = context.imported->at(*context.names, live.imported.origin);
}

/// Blocks hold the runs of a few threads in turn, each in order: stretches that go on where an earlier one ended make a
/// chain, one for each thread, and the chains are merged. Several times faster than sorting what is nearly sorted.
void EventBatch::sort() {
  if (std::is_sorted(events_.begin(), events_.end(), stands_before)) return;
  constexpr size_t kMostChains = 8;
  std::vector<std::vector<std::span<const Event>>> chains;
  for (size_t begin = 0; begin < events_.size() && chains.size() <= kMostChains;) {
    const auto from = events_.begin() + static_cast<ptrdiff_t>(begin);
    const size_t end = static_cast<size_t>(std::is_sorted_until(from, events_.end(), stands_before) - events_.begin());
    const auto chain = std::find_if(chains.begin(), chains.end(), [&](const auto& candidate) {
      return !stands_before(events_[begin], candidate.back().back());
    });
    const std::span<const Event> stretch = std::span(events_).subspan(begin, end - begin);
    (chain == chains.end() ? chains.emplace_back() : *chain).push_back(stretch);
    begin = end;
  }
  if (chains.size() > kMostChains) {
    std::sort(events_.begin(), events_.end(), stands_before);
  } else {
    merge(chains);
  }
}

void EventBatch::merge(const std::vector<std::vector<std::span<const Event>>>& chains) {
  struct Head {
    const std::vector<std::span<const Event>>* chain;
    size_t stretch = 0;
    std::span<const Event> left;
  };
  std::vector<Head> heads;
  for (const auto& chain : chains) heads.push_back({&chain, 0, chain.front()});
  merged_.clear();
  merged_.reserve(events_.size());
  while (!heads.empty()) {
    size_t first = 0;
    for (size_t i = 1; i < heads.size(); ++i) {
      if (stands_before(heads[i].left.front(), heads[first].left.front())) first = i;
    }
    Head& head = heads[first];
    merged_.push_back(head.left.front());
    head.left = head.left.subspan(1);
    if (!head.left.empty()) continue;
    if (++head.stretch < head.chain->size()) {
      head.left = (*head.chain)[head.stretch];
    } else {
      heads.erase(heads.begin() + static_cast<ptrdiff_t>(first));
    }
  }
  events_.swap(merged_);
}

void EventBatch::clear() {
  events_.clear();
  details_used_ = 0;
}

event::Detail& EventBatch::new_detail() {
  const size_t chunk = details_used_ / kDetailsPerChunk;
  if (chunk == details_.size()) details_.push_back(std::make_unique<event::Detail[]>(kDetailsPerChunk));
  event::Detail& detail = details_[chunk][details_used_++ % kDetailsPerChunk];
  detail = event::Detail{};
  return detail;
}

}  // namespace goodput::journal
