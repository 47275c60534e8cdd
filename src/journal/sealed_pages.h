// What a sealed segment says beside its events: its headers, its summary, its lanes and names, as bytes and back.
//
//   append_sealed_header(file, sizes, live_header);
//   append_summary(segment, plain);                    // one block of kind kSummary
//   if (!take_summary(plain, segment)) …
//
// Pure functions. The take_ functions add what they read to `segment` and return false at bytes that nobody writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "journal/sealed_format.h"
#include "journal/segment.h"

namespace goodput::journal {

struct SealedSizes {
  uint32_t file_bytes = 0;
  uint32_t front_bytes = 0;
  uint32_t events = 0;
  uint32_t event_blocks = 0;
};

struct SealedHeader {
  SealedSizes sizes;
  LiveHeader live;
  uint32_t used_bytes = 0;
};

/// How long the header of a sealed file is.
uint32_t sealed_header_bytes(const LiveHeader& live);
void append_sealed_header(std::vector<std::byte>& file, const SealedSizes& sizes, const LiveHeader& live);
/// The header that begins `bytes`. kUnreadable: none, or damaged. kUnsupported: of a newer version; both are named.
Result<SealedHeader> read_sealed_header(std::span<const std::byte> bytes);
/// Every header in the file, in order: it stands at both ends.
std::vector<SealedHeader> find_sealed_headers(std::span<const std::byte> file);
/// The first of them, or why there is none.
Result<SealedHeader> find_sealed_header(std::span<const std::byte> file);

void append_summary(const Segment& segment, std::vector<std::byte>& plain);
bool take_summary(std::span<const std::byte> plain, Segment& segment);

void append_lane(const LaneExtent& lane, std::vector<std::byte>& plain);
bool take_lanes(std::span<const std::byte> plain, Segment& segment);

void append_name(uint16_t id, std::string_view text, std::vector<std::byte>& plain);
bool take_names(std::span<const std::byte> plain, Segment& segment);

}  // namespace goodput::journal
