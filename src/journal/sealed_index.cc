// SPDX-License-Identifier: Apache-2.0
#include "journal/sealed_index.h"

#include "base/varint.h"
#include "journal/sealed_format.h"

namespace goodput::journal {
namespace {

constexpr uint64_t kBootTimes = 1;
constexpr uint64_t kWallTimes = 2;

void append_bounds(int64_t first_ns, int64_t last_ns, std::vector<std::byte>& plain) {
  put_varint(plain, zigzag(first_ns));
  put_varint(plain, static_cast<uint64_t>(last_ns) - static_cast<uint64_t>(first_ns));
}

bool take_bounds(std::span<const std::byte>& in, int64_t& first_ns, int64_t& last_ns) {
  uint64_t first = 0, length = 0;
  if (!get_varint(in, first) || !get_varint(in, length)) return false;
  first_ns = unzigzag(first);
  last_ns = static_cast<int64_t>(static_cast<uint64_t>(first_ns) + length);
  return first_ns <= last_ns;
}

}  // namespace

BlockFacts facts_of(std::span<const StoredEvent> events, uint32_t offset, uint32_t bytes) {
  BlockFacts facts{.offset = offset, .bytes = bytes, .events = static_cast<uint32_t>(events.size()), .times = {}};
  for (const StoredEvent& stored : events) {
    facts.kinds |= uint64_t{1} << static_cast<unsigned>(stored.event.kind);
    facts.times.add(stored.event);
  }
  return facts;
}

void append_facts(const BlockFacts& facts, std::vector<std::byte>& plain) {
  put_varint(plain, facts.bytes);
  put_varint(plain, facts.events);
  put_varint(plain, facts.kinds);
  put_varint(plain, (facts.times.has_boot() ? kBootTimes : 0) | (facts.times.has_wall() ? kWallTimes : 0));
  if (facts.times.has_boot()) append_bounds(facts.times.first_boot_ns, facts.times.last_boot_ns, plain);
  if (facts.times.has_wall()) append_bounds(facts.times.first_wall_ns, facts.times.last_wall_ns, plain);
}

bool take_facts(std::span<const std::byte>& in, uint32_t offset, BlockFacts& facts) {
  uint64_t bytes = 0, events = 0, has = 0;
  facts = BlockFacts{};
  if (!get_varint(in, bytes) || !get_varint(in, events) || !get_varint(in, facts.kinds) || !get_varint(in, has)) {
    return false;
  }
  if (bytes > sizeof(RawBlock) + kMaxStoredBytes || events > kMaxBlockEvents || has > (kBootTimes | kWallTimes)) {
    return false;
  }
  facts.offset = offset;
  facts.bytes = static_cast<uint32_t>(bytes);
  facts.events = static_cast<uint32_t>(events);
  if ((has & kBootTimes) != 0 && !take_bounds(in, facts.times.first_boot_ns, facts.times.last_boot_ns)) return false;
  return (has & kWallTimes) == 0 || take_bounds(in, facts.times.first_wall_ns, facts.times.last_wall_ns);
}

}  // namespace goodput::journal
