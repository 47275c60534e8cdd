// Strings of a live segment: names, locations, causes, each defined once and referred to by a 16-bit id.
//
// Use put_definition() when a name is first needed in a segment, and read_definitions() when it is read. Each stands in
// two areas at the same offset, in different pages: damage to one costs nothing, damage to both one name, never an
// event.
//
//   const uint32_t bytes = definition_bytes(name);               // reserve so many in both areas
//   put_definition(area, mirror, offset, id, name, seed);        // then publish the id
//   const std::vector<Definition> names = read_definitions(area, mirror, seed);
//
// Pure but for put_definition(), which stores the checksum last, with release, and may run in any thread or signal
// handler. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace goodput::journal {

/// Records begin at multiples of this, so that a reader finds the next one after a damaged one.
constexpr uint32_t kDefinitionAlignment = 8;
constexpr uint32_t kDefinitionHeadBytes = 8;  ///< checksum:32, id:16, length:16
/// Longer ones are cut: two must fit an area of 4 KiB.
constexpr size_t kMaxDefinitionBytes = 2000;

/// What a definition takes of each area.
constexpr uint32_t definition_bytes(std::string_view text) {
  const auto bytes = static_cast<uint32_t>(kDefinitionHeadBytes + text.size());
  return (bytes + kDefinitionAlignment - 1) / kDefinitionAlignment * kDefinitionAlignment;
}

/// Writes `text` (at most kMaxDefinitionBytes) at `offset` of both areas, which the caller has reserved and which are
/// zero there.
void put_definition(std::byte* area, std::byte* mirror, uint32_t offset, uint16_t id, std::string_view text,
                    uint32_t seed);

struct Definition {
  uint16_t id = 0;
  std::string_view text;  ///< inside the bytes that were read
};

/// Every definition that is intact in either area, in the order in which they stand. An area may be cut short or empty.
std::vector<Definition> read_definitions(std::span<const std::byte> area, std::span<const std::byte> mirror,
                                         uint32_t seed);

}  // namespace goodput::journal
