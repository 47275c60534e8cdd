// What the front of a sealed file says of the blocks behind it: which times and kinds each holds.
//
//   for (const BlockFacts& facts : index) {
//     if (facts.times.overlaps(from_ns, to_ns, wall_less_boot_ns)) read(facts.offset, facts.bytes);
//   }
//
// Values and pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "journal/segment.h"

namespace goodput::journal {

/// Bounds of the times of some events: boot times of those that stand at their recording, wall times of those that
/// carry a time of their own. Empty bounds are upside down.
struct TimeBounds {
  int64_t first_boot_ns = std::numeric_limits<int64_t>::max();
  int64_t last_boot_ns = std::numeric_limits<int64_t>::min();
  int64_t first_wall_ns = std::numeric_limits<int64_t>::max();
  int64_t last_wall_ns = std::numeric_limits<int64_t>::min();

  void add(const LiveEvent& event) {
    int64_t& first = event.has_wall_time ? first_wall_ns : first_boot_ns;
    int64_t& last = event.has_wall_time ? last_wall_ns : last_boot_ns;
    const int64_t time_ns = event.has_wall_time ? event.wall_ns : event.boot_ns;
    first = std::min(first, time_ns);
    last = std::max(last, time_ns);
  }
  void add(const TimeBounds& other) {
    first_boot_ns = std::min(first_boot_ns, other.first_boot_ns);
    last_boot_ns = std::max(last_boot_ns, other.last_boot_ns);
    first_wall_ns = std::min(first_wall_ns, other.first_wall_ns);
    last_wall_ns = std::max(last_wall_ns, other.last_wall_ns);
  }
  [[nodiscard]] bool has_boot() const { return first_boot_ns <= last_boot_ns; }
  [[nodiscard]] bool has_wall() const { return first_wall_ns <= last_wall_ns; }
  friend bool operator==(const TimeBounds&, const TimeBounds&) = default;
};

struct BlockFacts {
  uint32_t offset = 0;  ///< of the block in the file
  uint32_t bytes = 0;   ///< head included
  uint32_t events = 0;
  uint64_t kinds = 0;  ///< bit k: an event of kind k is in it
  TimeBounds times;
  friend bool operator==(const BlockFacts&, const BlockFacts&) = default;
};

/// Facts of a block that begins at `offset`, takes `bytes` and holds these events.
BlockFacts facts_of(std::span<const StoredEvent> events, uint32_t offset, uint32_t bytes);

/// The index as it stands in a file: `first_offset` is that of the first block of events, and blocks follow each other.
void append_facts(const BlockFacts& facts, std::vector<std::byte>& plain);
/// Takes one from the front of `in`, where the block before it ended at `offset`. False when it is not one.
bool take_facts(std::span<const std::byte>& in, uint32_t offset, BlockFacts& facts);

}  // namespace goodput::journal
