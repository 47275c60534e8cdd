// What a recorder could not write, by cause, and what it noticed: counters in a segment's first page and its mirror
// page.
//
// Use pack_counter() for the word that is stored (one atomic store of eight bytes, which checks itself) and
// read_counters() on the two copies of a segment that is read.
//
//   word = pack_counter(seed, Counter::kNoSpace, 3);
//   const CounterValues counts = read_counters(first_page, mirror_page, seed);
//   if (counts[Counter::kNoSpace] > 0) …
//
// Counts are the whole journal's up to the time when the segment was its newest: a journal's are the largest of each
// over its segments. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/checksum.h"
#include "journal/format.h"

namespace goodput::journal {

/// Stored in journals: never renumber, at most kCounterWords.
enum class Counter : uint8_t {
  // Events that are lost, by cause.
  kNoSpace = 0,   ///< disk full, quota, file-size limit
  kNoAccess = 1,  ///< read-only or missing folder, missing permission
  kIoError = 2,   ///< any other error of the system while a segment was prepared
  kTooManyThreads = 3,
  kBadValue = 4,    ///< a step, time, duration or name that no report could use
  kClosed = 5,      ///< recorded after close()
  kFellBehind = 6,  ///< as many segments as one journal may have were waiting to be sealed
  // What is no loss of events but worth a finding.
  kPreparedByCaller = 16,  ///< no prepared run was waiting: a recording thread made one itself
  kSlowStepNumber = 17,    ///< reading a step number took over 1 ms (a value on a device)
  kCutText = 18,           ///< a name, location or text was longer than a definition can be
  kTooManyNames = 19,      ///< an event kept, its name not: 65,534 others were in use
  kLabelsLeftOut = 20,     ///< labels that did not fit the header
  kSyncFailed = 21,        ///< the disk refused to sync: what stood in memory was written anew
  kMalformedEntry = 22,    ///< imported: entries of the log that were no events
  kRepairedEntry = 23,     ///< imported: entries that were used after a repair
};
constexpr Counter kLastLossCounter = Counter::kFellBehind;

constexpr int kCounterBits = 40;
constexpr uint64_t kMaxCount = (uint64_t{1} << kCounterBits) - 1;

/// Count in the low 40 bits, 24 bits of CRC32C above them. A counter that was never used is all zero.
inline uint64_t pack_counter(uint32_t seed, Counter counter, uint64_t count) {
  if (count == 0) return 0;
  if (count > kMaxCount) count = kMaxCount;
  const uint32_t crc = crc32c_word(seed, (uint64_t{static_cast<uint8_t>(counter)} << 56) | count);
  return count | (uint64_t{crc >> 8} << kCounterBits);
}
/// 0 when the word is damaged.
inline uint64_t unpack_counter(uint32_t seed, Counter counter, uint64_t word) {
  const uint64_t count = word & kMaxCount;
  return pack_counter(seed, counter, count) == word ? count : 0;
}

struct CounterValues {
  std::array<uint64_t, kCounterWords> counts{};
  [[nodiscard]] uint64_t operator[](Counter counter) const { return counts[static_cast<size_t>(counter)]; }
  uint64_t& operator[](Counter counter) { return counts[static_cast<size_t>(counter)]; }
  /// All causes of lost events together.
  [[nodiscard]] uint64_t lost_events() const {
    uint64_t sum = 0;
    for (size_t i = 0; i <= static_cast<size_t>(kLastLossCounter); ++i) sum += counts[i];
    return sum;
  }
};

/// Of each counter the larger of its two copies (the second is stored a moment later). Pages may be empty.
inline CounterValues read_counters(std::span<const std::byte> first_page, std::span<const std::byte> mirror_page,
                                   uint32_t seed) {
  CounterValues values;
  for (const auto page : {first_page, mirror_page}) {
    for (size_t i = 0; i < kCounterWords; ++i) {
      const size_t at = kCountersOffset + i * sizeof(uint64_t);
      if (at + sizeof(uint64_t) > page.size()) break;
      uint64_t word = 0;
      std::memcpy(&word, page.data() + at, sizeof(word));
      const uint64_t count = unpack_counter(seed, static_cast<Counter>(i), word);
      if (count > values.counts[i]) values.counts[i] = count;
    }
  }
  return values;
}

}  // namespace goodput::journal
