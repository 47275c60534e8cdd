// One live segment as its writer holds it: a mapped file whose every page can be written without failing.
//
// Use prepare_segment() to make one (in any thread or signal handler: no allocation, no lock), and define_name(),
// store_counter() and store_clock() on one that is mapped.
//
//   LiveSegment segment;
//   if (int error = prepare_segment(segment, folder, header, next_number, bytes); error != 0) …
//   const uint32_t run = segment.next_run.fetch_add(1);
//   std::byte* slots = segment.run_start(run);                     // when run < segment.layout.runs
//
// Whoever uses a segment keeps it from being unmapped meanwhile (Writer says how).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "journal/counters.h"
#include "journal/format.h"

namespace goodput::record {

/// Header bytes of a journal, made once: of each segment only number, sizes and checksum differ.
struct HeaderTemplate {
  std::array<std::byte, journal::kHeaderBytes> bytes{};
  std::array<uint8_t, 16> journal_id{};
};

struct LiveSegment {
  static constexpr uint32_t kClosedBit = 1U << 31;

  std::byte* base = nullptr;
  int fd = -1;
  uint32_t number = 0;
  uint32_t seed = 0;
  journal::LiveLayout layout;
  std::atomic<LiveSegment*> next{nullptr};  ///< the one to go on with
  bool is_spare = false;                    ///< of the housekeeper: nobody has used it, and nobody will
  std::atomic<uint32_t> next_free{0};       ///< of the pool
  std::atomic<uint32_t> next_run{0};        ///< with kClosedBit: no more are handed out
  std::atomic<uint32_t> definitions_used{0};
  std::atomic<uint32_t> clock_steps{0};
  /// Which ids are defined in it.
  std::array<std::atomic<uint64_t>, 65'536 / 64> defined{};

  [[nodiscard]] std::byte* run_start(uint32_t run) const {
    return base + layout.runs_offset + size_t{run} * journal::kRunBytes;
  }
  [[nodiscard]] bool contains(uint64_t address) const {
    const auto start = reinterpret_cast<uint64_t>(base);
    return address > start && address <= start + layout.segment_bytes;
  }
  void close() { next_run.fetch_or(kClosedBit, std::memory_order_relaxed); }
  /// No run was ever handed out.
  [[nodiscard]] bool is_unused() const { return (next_run.load(std::memory_order_relaxed) & ~kClosedBit) == 0; }
};

/// "00000012.live"; of a file that is being made, with a number of its own, "00000012.new".
struct SegmentName {
  std::array<char, 16> text{};
  explicit SegmentName(uint32_t number, const char* form = ".live");
  [[nodiscard]] const char* c_str() const { return text.data(); }
};

/// Makes the file, allocates and maps it, makes its pages writable, writes its header twice, and only then gives it its
/// name: whoever is killed in between leaves no segment. Its number is the first at or after `next_number` that no file
/// has, and `next_number` moves past it. 0, or errno with nothing left behind.
int prepare_segment(LiveSegment& segment, int folder, const HeaderTemplate& header, std::atomic<uint32_t>& next_number,
                    uint32_t bytes);

/// Unmaps and closes. The file stays.
void release_segment(LiveSegment& segment);

/// Makes sure that the segment says what `id` means. False when its areas are full.
bool define_name(LiveSegment& segment, uint16_t id, std::string_view text);

/// Raises a counter to `count` in both places; one that stands higher stays.
void store_counter(LiveSegment& segment, journal::Counter counter, uint64_t count);

/// The liveness word: the `count`-th pair of the journal. One thread at a time.
void store_clock(LiveSegment& segment, int64_t count, const ClockPair& pair);
/// A step of the wall clock, while there is room for it.
void store_clock_step(LiveSegment& segment, const ClockPair& after, int64_t step_ns);

}  // namespace goodput::record
