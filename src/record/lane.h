// A lane: where one thread writes its slots, and the table that holds all lanes of a writer.
//
// Only the fast function and the slow path of Writer touch lanes; the housekeeper reads them to learn who is still
// writing.
//
//   LaneUse use(lane);                                  // counted: whoever unmaps waits for it
//   if (lane.room_for(1)) at = lane.take(1);            // before the clock is read, so that handlers come after us
//   store_slot(lane, at, head, value, now);
//   use.end();
//
// One thread at a time fills a lane, and signal handlers that interrupt it: hence read-modify-write by one instruction
// without a lock prefix. After fork the table reads as zeros (MADV_WIPEONFORK): no room anywhere, and nobody home.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "journal/slot.h"

#if defined(__SANITIZE_THREAD__)
#define GOODPUT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GOODPUT_TSAN 1
#endif
#endif

namespace goodput::record {

struct LiveSegment;

#if defined(__x86_64__) && !defined(GOODPUT_TSAN)
// The processor finishes an instruction before it takes an interrupt, so these are atomic for all that may come
// between: handlers of the same thread. A lock prefix would cost 5 ns.
inline uint64_t add_local(std::atomic<uint64_t>& word, uint64_t by) {
  __asm__ volatile("xaddq %0, %1" : "+r"(by), "+m"(reinterpret_cast<uint64_t&>(word)) : : "cc", "memory");
  return by;
}
inline void increment_local(std::atomic<uint32_t>& word) {
  __asm__ volatile("incl %0" : "+m"(reinterpret_cast<uint32_t&>(word)) : : "cc", "memory");
}
inline void decrement_local(std::atomic<uint32_t>& word) {
  __asm__ volatile("decl %0" : "+m"(reinterpret_cast<uint32_t&>(word)) : : "cc", "memory");
}
#else
inline uint64_t add_local(std::atomic<uint64_t>& word, uint64_t by) {
  return word.fetch_add(by, std::memory_order_relaxed);
}
inline void increment_local(std::atomic<uint32_t>& word) {
  word.fetch_add(1, std::memory_order_acquire);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void decrement_local(std::atomic<uint32_t>& word) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  word.fetch_sub(1, std::memory_order_release);
}
#endif

/// 128 bytes: processors fetch lines in pairs, and two threads' counters in one pair cost three times as much.
struct alignas(128) Lane {
  std::atomic<uint64_t> cursor{0};  ///< address of the next slot
  std::atomic<uint64_t> limit{0};   ///< end of the run; 0: none, or taken away
  uint64_t place_bias = 0;          ///< place of a slot = bias + address / 32
  uint32_t index_bias = 0;          ///< index of a slot in the file = bias + address / 32
  uint32_t seed = 0;
  std::atomic<uint32_t> busy{0};  ///< calls under way in it, one and the handlers on top of it
  uint32_t id = 0;

  // Of the slow path.
  uint64_t run_start = 0;
  uint64_t next_number = 0;        ///< number of the first slot of the run
  LiveSegment* segment = nullptr;  ///< valid while the lane has a run or is busy
  std::atomic<uint32_t> next_free{0};

  [[nodiscard]] bool room_for(unsigned slots) const {
    return cursor.load(std::memory_order_relaxed) + uint64_t{slots} * journal::kSlotBytes <=
           limit.load(std::memory_order_relaxed);
  }
  /// Address of the first of `slots` slots. A handler may have come between room_for() and this: compare with the
  /// limit.
  uint64_t take(unsigned slots) { return add_local(cursor, uint64_t{slots} * journal::kSlotBytes); }
};
static_assert(sizeof(Lane) == 128);

/// Counts a call as under way, so that nobody unmaps what it writes to.
class LaneUse {
 public:
  explicit LaneUse(Lane& lane) : lane_(lane) { increment_local(lane_.busy); }
  ~LaneUse() { decrement_local(lane_.busy); }
  LaneUse(const LaneUse&) = delete;
  LaneUse& operator=(const LaneUse&) = delete;

 private:
  Lane& lane_;
};

/// Writes and commits one slot at an address that was taken. `boot_ns` may be a call that reads the clock. It is made
/// first: reading the counter waits for what was begun before, and everything here then runs beside the kernel's
/// arithmetic (the checksum before the clock cost 1.30 of a clock read and a store, after it 1.2).
template <typename BootNs>
inline void store_slot(const Lane& lane, uint64_t at, uint64_t head, uint64_t value, BootNs boot_ns) {
  const auto time = static_cast<uint64_t>(boot_ns());
  const uint64_t slot_count = at / journal::kSlotBytes;
  const uint64_t place = lane.place_bias + slot_count;
  const uint32_t index = lane.index_bias + static_cast<uint32_t>(slot_count);
  const uint32_t checksum = journal::slot_checksum_before_time(lane.seed, index, head, value, place);
  auto* words = reinterpret_cast<uint64_t*>(at);  // NOLINT(performance-no-int-to-ptr): the cursor is what xadd adds to
  std::atomic_ref(words[1]).store(time, std::memory_order_relaxed);
  std::atomic_ref(words[2]).store(value, std::memory_order_relaxed);
  std::atomic_ref(words[3]).store(place, std::memory_order_relaxed);
  std::atomic_ref(words[0]).store(head | crc32c_word(checksum, time), std::memory_order_release);
  // The line after the next, into which nobody has written yet: a loop that records much waits for it otherwise (a step
  // from Python, in bursts of a hundred: 1.15 instead of 1.35 of a clock read).
  __builtin_prefetch(words + 16, 1);
}

/// One slot of what is attached: all of its words are the caller's.
inline void store_attached_slot(const Lane& lane, uint64_t at, const journal::Slot& slot) {
  const uint32_t index = lane.index_bias + static_cast<uint32_t>(at / journal::kSlotBytes);
  auto* words = reinterpret_cast<uint64_t*>(at);  // NOLINT(performance-no-int-to-ptr): the cursor is what xadd adds to
  std::atomic_ref(words[1]).store(slot.boot_ns, std::memory_order_relaxed);
  std::atomic_ref(words[2]).store(slot.value, std::memory_order_relaxed);
  std::atomic_ref(words[3]).store(slot.place, std::memory_order_relaxed);
  std::atomic_ref(words[0]).store(slot.head | journal::slot_checksum(lane.seed, index, slot),
                                  std::memory_order_release);
}

/// All lanes of one writer, in memory of its own that is wiped in a forked child. Threads hold on to it after the
/// writer is gone, so it counts its holders.
class LaneTable {
 public:
  /// The lane field of a slot has 16 bits.
  static constexpr uint32_t kMaxLanes = 65'535;

  /// nullptr when the system has no memory for it, or cannot wipe it in children.
  static LaneTable* make(uint64_t writer_id);
  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  /// The writer's own let_go(): from here on the threads may use their seats for others.
  void leave() {
    is_left_.store(true, std::memory_order_release);
    let_go();
  }
  [[nodiscard]] bool is_left() const { return is_left_.load(std::memory_order_acquire); }
  /// Unmaps it with the last holder.
  void let_go();

  /// False in a forked child, where nothing may be recorded.
  [[nodiscard]] bool is_ours(uint64_t writer_id) const {
    return writer_id_.load(std::memory_order_relaxed) == writer_id;
  }
  /// A lane that nobody fills, or nullptr when 65,535 are in use. No lock, no system call.
  Lane* claim();
  void give_back(Lane& lane);

  /// Lanes that were ever handed out.
  [[nodiscard]] uint32_t count() const {
    const uint32_t count = handed_out_.load(std::memory_order_acquire);
    return count < kMaxLanes ? count : kMaxLanes;
  }
  Lane& operator[](uint32_t i) { return lanes_[i]; }

 private:
  LaneTable() = default;

  std::atomic<uint64_t> writer_id_{0};
  std::atomic<uint32_t> holders_{1};
  std::atomic<uint32_t> handed_out_{0};
  std::atomic<bool> is_left_{false};
  std::atomic<uint64_t> free_{0};  // a stack: count of pushes:32 against reuse, id of the topmost lane + 1:32
  Lane lanes_[kMaxLanes];
};

}  // namespace goodput::record
