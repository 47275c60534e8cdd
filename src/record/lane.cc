// SPDX-License-Identifier: Apache-2.0
#include "record/lane.h"

#include <sys/mman.h>

#include <new>

namespace goodput::record {

LaneTable* LaneTable::make(uint64_t writer_id) {
  // 8 MiB of addresses; a page becomes memory when one of its 32 lanes is used.
  void* memory =
      mmap(nullptr, sizeof(LaneTable), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (madvise(memory, sizeof(LaneTable), MADV_WIPEONFORK) != 0) {
    munmap(memory, sizeof(LaneTable));
    return nullptr;
  }
  // Its members are zero as they come: constructing the lanes would touch all of their pages.
  auto* table = static_cast<LaneTable*>(memory);
  table->holders_.store(1, std::memory_order_relaxed);
  table->writer_id_.store(writer_id, std::memory_order_release);
  return table;
}

void LaneTable::let_go() {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) munmap(static_cast<void*>(this), sizeof(LaneTable));
}

Lane* LaneTable::claim() {
  uint64_t top = free_.load(std::memory_order_acquire);
  while ((top & 0xffff'ffff) != 0) {
    Lane& lane = lanes_[(top & 0xffff'ffff) - 1];
    const uint64_t below = (top & ~uint64_t{0xffff'ffff}) | lane.next_free.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(top, below, std::memory_order_acq_rel)) return &lane;
  }
  if (handed_out_.load(std::memory_order_relaxed) >= kMaxLanes) return nullptr;
  const uint32_t id = handed_out_.fetch_add(1, std::memory_order_acq_rel);
  if (id >= kMaxLanes) return nullptr;
  lanes_[id].id = id;
  return &lanes_[id];
}

void LaneTable::give_back(Lane& lane) {
  uint64_t top = free_.load(std::memory_order_relaxed);
  uint64_t with_lane = 0;
  do {
    lane.next_free.store(static_cast<uint32_t>(top), std::memory_order_relaxed);
    with_lane = (((top >> 32) + 1) << 32) | (lane.id + 1);
  } while (!free_.compare_exchange_weak(top, with_lane, std::memory_order_acq_rel));
}

}  // namespace goodput::record
