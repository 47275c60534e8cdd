// SPDX-License-Identifier: Apache-2.0
#include "journal/live_copy.h"

#include <algorithm>
#include <utility>

#include "journal/recover.h"

namespace goodput::journal {
namespace {

uint32_t used_runs(std::span<const std::byte> segment, const LiveLayout& layout) {
  uint32_t runs = layout.runs;
  // A layout has one at least.
  for (; runs > 1; --runs) {
    const auto run = segment.subspan(layout.runs_offset + (runs - 1) * kRunBytes, kRunBytes);
    if (std::any_of(run.begin(), run.end(), [](std::byte byte) { return byte != std::byte{0}; })) break;
  }
  return runs;
}

}  // namespace

Result<LiveCopy> copy_live(std::span<const std::byte> segment) {
  LiveCopy copy;
  ASSIGN_OR_RETURN(copy.header, find_header(segment));
  const LiveLayout from = copy.header.layout();
  if (segment.size() < from.segment_bytes)
    return Status(StatusCode::kUnreadable, "copying a segment that is cut short");
  const uint32_t front_bytes = from.runs_offset + used_runs(segment, from) * kRunBytes;
  const auto mirror = segment.subspan(from.mirror_definitions_offset, from.definitions_bytes + kPageBytes);
  copy.bytes.assign(segment.begin(), segment.begin() + front_bytes);
  copy.bytes.insert(copy.bytes.end(), mirror.begin(), mirror.end());

  copy.header.segment_bytes = static_cast<uint32_t>(copy.bytes.size());
  copy.header.header_flags |= kStagedFlag;
  for (const size_t page : {size_t{0}, copy.bytes.size() - kPageBytes}) {
    (void)encode_header(copy.header, std::span(copy.bytes).subspan(page + kHeaderOffset).first<kHeaderBytes>());
  }
  ASSIGN_OR_RETURN(const Segment read, recover_live(copy.bytes, std::nullopt));
  copy.events = read.events.size();
  copy.pairs = read.clock.pairs;
  copy.says_something = copy.header.segment_number == 1 || copy.events > 0 || copy.pairs > 0;
  return copy;
}

}  // namespace goodput::journal
