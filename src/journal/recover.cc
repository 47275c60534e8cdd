// SPDX-License-Identifier: Apache-2.0
#include "journal/recover.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <unordered_map>

#include "journal/definitions.h"
#include "journal/run_scan.h"

namespace goodput::journal {
namespace {

std::span<const std::byte> part(std::span<const std::byte> bytes, size_t offset, size_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min(size, bytes.size() - offset));
}

/// Bytes before the zeros at the end.
size_t nonzero_size(std::span<const std::byte> bytes) {
  size_t size = bytes.size();
  while (size > 0 && bytes[size - 1] == std::byte{0}) --size;
  return size;
}

/// crc32c_word() run backwards: the register before `word` was folded in.
uint32_t crc32c_word_before(uint32_t after, uint64_t word) {
  static const auto kPreviousTop = [] {
    std::array<uint8_t, 256> index{};  // by the top byte of a table entry, which is unique
    for (size_t i = 0; i < 256; ++i) index[crc32c_by_table::kTables[0][i] >> 24] = static_cast<uint8_t>(i);
    return index;
  }();
  uint32_t crc = after;
  for (int k = 7; k >= 0; --k) {
    const uint8_t index = kPreviousTop[crc >> 24];
    const auto byte = static_cast<uint8_t>(word >> (8 * k));
    crc = ((crc ^ crc32c_by_table::kTables[0][index]) << 8) | static_cast<uint8_t>(index ^ byte);
  }
  return crc;
}

uint32_t seed_of_slot(uint32_t index, const Slot& slot) {
  uint32_t crc = crc32c_word_before(static_cast<uint32_t>(slot.head), slot.boot_ns);
  crc = crc32c_word_before(crc, slot.place);
  crc = crc32c_word_before(crc, slot.value);
  return crc32c_word_before(crc, (slot.head & 0xffff'ffff'0000'0000) | index);
}

/// The header of a segment that lost both copies. Sizes are those that the recorder gives a segment of such a length.
LiveHeader header_without_copies(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint) {
  LiveHeader header;
  const size_t at_least = std::max<size_t>(bytes.size(), kMinSegmentBytes);
  header.segment_bytes = static_cast<uint32_t>(std::min<size_t>(std::bit_ceil(at_least), kMaxReadableSegmentBytes));
  header.definitions_bytes = live_layout(header.segment_bytes).definitions_bytes;
  header.segment_number = hint ? hint->segment_number : 0;
  if (hint) header.journal_id = hint->journal_id;
  return header;
}

void read_runs(std::span<const std::byte> bytes, const LiveLayout& layout, uint32_t seed, Segment& segment) {
  RunScan scan;
  for (uint32_t r = 0; r < layout.runs; ++r) {
    const uint32_t offset = layout.runs_offset + r * kRunBytes;
    const auto run = part(bytes, offset, kRunBytes);
    if (run.empty()) break;
    scan_run(run, offset / kSlotBytes, seed, {}, scan);
  }
  segment.events = std::move(scan.events);
  segment.lanes = std::move(scan.lanes);
  for (const Loss& loss : scan.losses) add_loss(segment.losses, loss);
}

/// A file that ends, or is zero, from inside its runs to its end: what stood there is not known. (The last page of a
/// segment begins with the header's second copy, so a whole segment never ends in a page of zeros.)
void state_cut(std::span<const std::byte> bytes, const LiveLayout& layout, Segment& segment) {
  size_t kept = bytes.size();
  if (kept >= layout.segment_bytes) kept = nonzero_size(bytes);
  if (kept > layout.mirror_page_offset && bytes.size() >= layout.segment_bytes) return;
  const size_t first_lost = std::max<size_t>(kept + kSlotBytes - 1, layout.runs_offset) / kSlotBytes;
  const size_t end = layout.mirror_definitions_offset / kSlotBytes;
  add_loss(segment.losses, {.reason = LossReason::kCutShort,
                            .at_most = true,
                            .events = end > first_lost ? end - first_lost : 0,
                            .bytes = layout.segment_bytes - kept});
}

}  // namespace

void state_lost_names(Segment& segment) {
  for (const StoredEvent& stored : segment.events) {
    for (const uint16_t id : name_ids(stored.event)) {
      if (!segment.names.contains(id)) segment.names.add_lost(id);
    }
  }
  add_loss(segment.losses, {.reason = LossReason::kDamagedName, .names = segment.names.lost()});
}

std::optional<uint32_t> seed_of_slots(std::span<const std::byte> bytes) {
  std::unordered_map<uint32_t, uint32_t> votes;
  uint32_t most = 1, seed = 0;
  for (uint32_t i = kClockSlotsOffset / kSlotBytes; (size_t{i} + 1) * kSlotBytes <= bytes.size(); ++i) {
    Slot slot;
    std::memcpy(&slot, bytes.data() + size_t{i} * kSlotBytes, sizeof(slot));
    if (head_kind(slot.head) == 0) continue;
    const uint32_t candidate = seed_of_slot(i, slot);
    if (const uint32_t count = ++votes[candidate]; count > most) {
      most = count;
      seed = candidate;
    }
  }
  if (most < 2) return std::nullopt;
  return seed;
}

namespace {

size_t count_intact(std::span<const std::byte> bytes, uint32_t seed) {
  size_t count = 0;
  for (uint32_t i = kClockSlotsOffset / kSlotBytes; (size_t{i} + 1) * kSlotBytes <= bytes.size(); ++i) {
    Slot slot;
    std::memcpy(&slot, bytes.data() + size_t{i} * kSlotBytes, sizeof(slot));
    count += is_intact(seed, i, slot) ? 1 : 0;
  }
  return count;
}

/// Whose bytes these are. One identity is the rule; where headers and hint disagree (pages of two files, old content
/// under a new header), the one with which most slots check.
struct Identity {
  LiveHeader header;
  uint32_t seed = 0;
  bool has_header = true;
};

Result<Identity> identify(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint) {
  std::vector<Identity> candidates;
  const auto add = [&](LiveHeader header, uint32_t seed, bool has_header) {
    const bool known = std::any_of(candidates.begin(), candidates.end(),
                                   [&](const Identity& candidate) { return candidate.seed == seed; });
    if (!known) candidates.push_back({std::move(header), seed, has_header});
  };
  for (LiveHeader& header : find_headers(bytes)) {
    const uint32_t seed = header.seed();
    add(std::move(header), seed, true);
  }
  if (candidates.empty()) {
    const Status failure = find_header(bytes).status();
    if (failure.code() == StatusCode::kUnsupported) return failure;
    LiveHeader header = header_without_copies(bytes, hint);
    const std::optional<uint32_t> seed = hint ? header.seed() : seed_of_slots(bytes);
    if (!seed) return failure;
    return Identity{std::move(header), *seed, false};
  }
  if (hint) {
    LiveHeader header = header_without_copies(bytes, hint);
    const uint32_t seed = header.seed();
    add(std::move(header), seed, false);
  }
  if (candidates.size() == 1) return std::move(candidates.front());
  std::vector<size_t> intact;
  for (const Identity& candidate : candidates) intact.push_back(count_intact(bytes, candidate.seed));
  const auto most = std::max_element(intact.begin(), intact.end()) - intact.begin();
  return std::move(candidates[static_cast<size_t>(most)]);
}

}  // namespace

Result<Segment> recover_live(std::span<const std::byte> bytes, const std::optional<SegmentHint>& hint) {
  ASSIGN_OR_RETURN(Identity identity, identify(bytes, hint));
  Segment segment;
  segment.header = std::move(identity.header);
  const uint32_t seed = identity.seed;
  if (!identity.has_header) add_loss(segment.losses, {.reason = LossReason::kDamagedHeader, .bytes = 2 * kHeaderBytes});

  const LiveLayout layout = segment.header.layout();
  const auto first_page = part(bytes, 0, kPageBytes);
  const auto mirror_page = part(bytes, layout.mirror_page_offset, kPageBytes);
  segment.counters = read_counters(first_page, mirror_page, seed);
  segment.clock = read_clock_slots(first_page, seed);
  const auto definitions = part(bytes, layout.definitions_offset, layout.definitions_bytes);
  const auto mirror = part(bytes, layout.mirror_definitions_offset, layout.definitions_bytes);
  for (const Definition& definition : read_definitions(definitions, mirror, seed)) {
    segment.names.add(definition.id, definition.text);
  }
  read_runs(bytes, layout, seed, segment);
  state_cut(bytes, layout, segment);
  state_lost_names(segment);
  return segment;
}

}  // namespace goodput::journal
