// The hot path: puts events of any thread into the live segments of one journal.
//
// One Writer per journal; Recorder and the C API call record_step() and record(), the housekeeper and the liveness
// thread call the rest. Nothing here locks, allocates or throws, and record_plain() makes no system call.
//
//   writer.record_plain(kind, flags, value);                     // one slot: 1.2 of a clock read and a 32-byte store
//   writer.record({.kind = event::Kind::kCustomStart, .name = writer.name_id("eval")});
//   writer.count(Counter::kBadValue);
//
// Threads: each call from any thread or signal handler. In a forked child nothing is recorded and nothing counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "journal/counters.h"
#include "journal/live_event.h"
#include "record/lane.h"
#include "record/name_table.h"
#include "record/segment_chain.h"

namespace goodput::record {

/// Which clock stands for boot time. CLOCK_BOOTTIME where reading it is a function call; else CLOCK_MONOTONIC and the
/// time that the machine was suspended, which the liveness thread publishes (x86 before Linux 5.3: 35 ns instead of 155
/// to 180).
struct RecordClock {
  clockid_t id = CLOCK_BOOTTIME;
  std::atomic<int64_t> ahead_ns{0};

  void choose();
  void refresh();
  [[nodiscard]] int64_t now_ns() const { return read_clock_ns(id) + ahead_ns.load(std::memory_order_relaxed); }
};

/// A thread's lane in a writer.
struct Seat {
  std::atomic<uint64_t> writer_id{0};
  Lane* lane = nullptr;
  LaneTable* table = nullptr;
  uint64_t unused = 0;  // 32 bytes: an index becomes an address by a shift
};
/// Four: where a fifth recorder of a thread meets one of them, it borrows a lane for each event.
constexpr uint32_t kSeats = 4;
// Initial-exec: reading it is one instruction, also in a library that Python loads.
extern constinit thread_local Seat thread_seats[kSeats] __attribute__((tls_model("initial-exec")));

class alignas(64) Writer {
 public:
  Writer() = default;
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// False when the system has no memory, or lacks what it takes (MADV_WIPEONFORK, Linux 4.14).
  [[nodiscard]] bool open(NameTable& names);
  /// Called, in any thread, when a prepared segment is wanted. Async-signal-safe.
  void on_need(void (*wake)(void*), void* argument);

  /// An event of one slot, now. `kind` and `flags` as in event.h.
  void record_plain(event::Kind kind, uint8_t flags, uint64_t value);
  /// Any event; with boot_ns 0, now. Names and texts are ids from name_id().
  void record(journal::LiveEvent event);
  /// The id of a name; longer ones than kMaxDefinitionBytes are cut, and counted.
  uint16_t name_id(std::string_view text);
  [[nodiscard]] std::string_view name_of(uint16_t id) const { return names_->text_of(id); }
  void count(journal::Counter counter, uint64_t by = 1);
  [[nodiscard]] int64_t now_ns() const { return clock_.now_ns(); }
  /// False in a forked child.
  [[nodiscard]] bool is_ours() const { return lanes_ != nullptr && lanes_->is_ours(id_); }
  [[nodiscard]] journal::CounterValues counts() const;

  // Of the background threads, and of whoever opens and closes.
  [[nodiscard]] SegmentChain& chain() { return chain_; }
  /// The liveness word, into the newest segment.
  void store_liveness(const ClockPair& pair);
  /// Brings the newest segment's counters up to what was counted.
  void publish_counts();
  /// Takes every run in these closed segments away from its lane, and waits until no call that may write to one is
  /// under way. False when one still is after `patience_ns`.
  bool quiesce(std::span<LiveSegment* const> segments, int64_t patience_ns);
  /// From here on every event is counted as kClosed, in memory only. The caller then quiesces all segments.
  void close() { closed_.store(true, std::memory_order_seq_cst); }
  /// Grows with every event, roughly: whether anything was recorded since it was last asked.
  [[nodiscard]] uint64_t activity() const;
  [[nodiscard]] RecordClock& clock() { return clock_; }

 private:
  friend class Pin;

  __attribute__((noinline)) void record_slowly(event::Kind kind, uint8_t flags, uint64_t value);
  Lane* own_lane();
  bool write_event(Lane& lane, journal::LiveEvent& event);
  bool refill(Lane& lane);
  void retire_run(Lane& lane);
  void skip_rest(Lane& lane, uint64_t limit);
  bool define_names(LiveSegment& segment, const journal::LiveEvent& event);
  void count_closed();
  void store_count(journal::Counter counter, uint64_t count);
  [[nodiscard]] bool has_run_in(std::span<LiveSegment* const> segments) const;

  uint64_t id_ = 0;  // never used twice in a process
  uint32_t seat_ = 0;
  bool can_quiesce_ = false;  // without membarrier(2) segments stay mapped until the process ends
  LaneTable* lanes_ = nullptr;
  NameTable* names_ = nullptr;
  RecordClock clock_;
  SegmentChain chain_;
  std::atomic<bool> closed_{false};
  std::atomic<uint32_t> pins_{0};
  std::array<std::atomic<uint64_t>, journal::kCounterWords> counts_{};
  void (*wake_)(void*) = nullptr;
  void* wake_argument_ = nullptr;
  int64_t pairs_ = 0;
  ClockPair last_pair_;
};

[[gnu::always_inline]] inline void Writer::record_plain(event::Kind kind, uint8_t flags, uint64_t value) {
  const Seat* seat = thread_seats + seat_;
  __asm__("" : "+r"(seat));  // the thread's base is read once
  if (seat->writer_id.load(std::memory_order_relaxed) == id_) [[likely]] {
    Lane& lane = *seat->lane;
    const LaneUse use(lane);
    const uint64_t limit = lane.limit.load(std::memory_order_relaxed);
    if (lane.cursor.load(std::memory_order_relaxed) + journal::kSlotBytes <= limit) [[likely]] {
      const uint64_t at = lane.take(1);
      if (at + journal::kSlotBytes <= limit) [[likely]] {
        store_slot(lane, at, journal::pack_head(static_cast<uint8_t>(kind), 0, flags, journal::kNoName), value,
                   [this] { return clock_.now_ns(); });
        return;
      }
    }
  }
  record_slowly(kind, flags, value);
}

/// Keeps every segment mapped, for callers that have no lane.
class Pin {
 public:
  explicit Pin(Writer& writer) : writer_(writer) { writer_.pins_.fetch_add(1, std::memory_order_seq_cst); }
  ~Pin() { writer_.pins_.fetch_sub(1, std::memory_order_release); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  Writer& writer_;
};

}  // namespace goodput::record
