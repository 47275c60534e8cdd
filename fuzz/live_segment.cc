// Any bytes as a live segment. A raw input would never pass a checksum, so one half of the inputs are slots and
// definitions that are given theirs: then whatever recovery returns must survive sealing unchanged.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/status.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {
namespace {

const SegmentHint kHint{SegmentFixture::header().journal_id, 1};

uint64_t lost_events(const Segment& segment) {
  uint64_t events = 0;
  for (const Loss& loss : segment.losses) events += loss.events;
  return events;
}

void check_sealing(const Segment& segment) {
  const Result<Segment> back = recover_sealed(seal_segment(segment), kHint);
  CHECK(back.ok());
  CHECK(back->events.size() == segment.events.size());
  for (size_t i = 0; i < segment.events.size(); ++i) {
    CHECK(same_event(back->events[i].event, segment.events[i].event));
    CHECK(back->events[i].slot == segment.events[i].slot);
  }
  CHECK(back->names == segment.names);
  CHECK(lost_events(*back) == lost_events(segment));
}

/// The input's 32-byte pieces as slots, each with its checksum.
std::vector<std::byte> with_checksums(std::span<const std::byte> input) {
  SegmentFixture live(SegmentFixture::header());
  live.define(1, "eval");
  std::vector<std::byte>& bytes = live.bytes();
  const size_t begin = live.layout().runs_offset, end = live.layout().mirror_definitions_offset;
  for (size_t at = 0; at + kSlotBytes <= std::min(input.size(), end - begin); at += kSlotBytes) {
    Slot slot;
    std::memcpy(&slot, input.data() + at, sizeof(slot));
    const auto index = static_cast<uint32_t>((begin + at) / kSlotBytes);
    slot.head &= ~uint64_t{0xffff'ffff};
    slot.head |= slot_checksum(live.live_header().seed(), index, slot);
    std::memcpy(bytes.data() + begin + at, &slot, sizeof(slot));
  }
  return bytes;
}

}  // namespace
}  // namespace goodput::journal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* start, size_t size) {
  using namespace goodput::journal;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(start + 1, size - 1));
  if (start[0] % 2 == 0) {
    (void)recover_live(input);
    (void)recover_live(input, kHint);
    return 0;
  }
  const goodput::Result<Segment> segment = recover_live(with_checksums(input), kHint);
  CHECK(segment.ok());
  check_sealing(*segment);
  return 0;
}
