// SPDX-License-Identifier: Apache-2.0
#include "record/live_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "journal/clock_slots.h"
#include "journal/definitions.h"
#include "journal/live_header.h"
#include "record/system_calls.h"

namespace goodput::record {
namespace {

/// Of files that are being made, never used twice in a process.
std::atomic<uint32_t> next_unfinished{1};

void write_headers(std::byte* base, uint32_t number, const journal::LiveLayout& layout, const HeaderTemplate& header) {
  std::array<std::byte, journal::kHeaderBytes> copy = header.bytes;
  journal::set_segment(copy, number, layout);
  for (const uint32_t page : {0U, layout.mirror_page_offset}) std::memcpy(base + page, copy.data(), copy.size());
}

void put_word(std::byte* at, uint64_t word, std::memory_order order) {
  std::atomic_ref(*reinterpret_cast<uint64_t*>(at)).store(word, order);
}

void put_clock_slot(LiveSegment& segment, uint32_t clock_slot, const journal::Slot& slot) {
  std::byte* at = segment.base + journal::kClockSlotsOffset + size_t{clock_slot} * journal::kSlotBytes;
  put_word(at, 0, std::memory_order_relaxed);  // half of one and half of another does not check, but need not try
  put_word(at + 8, slot.boot_ns, std::memory_order_relaxed);
  put_word(at + 16, slot.value, std::memory_order_relaxed);
  put_word(at + 24, slot.place, std::memory_order_relaxed);
  put_word(at, slot.head, std::memory_order_release);
}

}  // namespace

SegmentName::SegmentName(uint32_t number, const char* form) {
  constexpr int kDigits = 8;
  for (int i = kDigits - 1; i >= 0; --i, number /= 10)
    text[static_cast<size_t>(i)] = static_cast<char>('0' + number % 10);
  std::strncpy(text.data() + kDigits, form, text.size() - kDigits - 1);
}

/// Gives the finished file the first number that is free, and its headers that number.
int publish(int folder, const SegmentName& unfinished, std::byte* base, const journal::LiveLayout& layout,
            const HeaderTemplate& header, std::atomic<uint32_t>& next_number, uint32_t& number) {
  for (;;) {
    number = next_number.load(std::memory_order_relaxed);
    write_headers(base, number, layout, header);
    const int error = system_calls.publish_at(folder, unfinished.c_str(), SegmentName(number).c_str());
    if (error != 0 && error != EEXIST) return error;
    uint32_t expected = number;  // somebody else may have moved it on, for the same reason
    next_number.compare_exchange_strong(expected, number + 1, std::memory_order_relaxed);
    if (error == 0) return 0;
  }
}

int prepare_segment(LiveSegment& segment, int folder, const HeaderTemplate& header, std::atomic<uint32_t>& next_number,
                    uint32_t bytes) {
  const SegmentName unfinished(next_unfinished.fetch_add(1, std::memory_order_relaxed), ".new");
  const int fd = system_calls.open_at(folder, unfinished.c_str(), O_RDWR | O_CREAT | O_TRUNC);
  if (fd < 0) return -fd;
  const journal::LiveLayout layout = journal::live_layout(bytes);
  std::byte* base = nullptr;
  uint32_t number = 0;
  int error = system_calls.allocate(fd, bytes);
  if (error == 0) error = system_calls.map(fd, bytes, &base);
  if (error == 0) error = system_calls.populate(fd, base, bytes);
  if (error == 0) error = publish(folder, unfinished, base, layout, header, next_number, number);
  if (error != 0) {
    if (base != nullptr) munmap(base, bytes);
    system_calls.remove_at(folder, unfinished.c_str());
    close(fd);
    return error;
  }
  segment.base = base;
  segment.fd = fd;
  segment.is_spare = false;
  segment.number = number;
  segment.layout = layout;
  segment.seed = journal::segment_seed(header.journal_id, number);
  segment.next.store(nullptr, std::memory_order_relaxed);
  segment.next_run.store(0, std::memory_order_relaxed);
  if (segment.definitions_used.exchange(0, std::memory_order_relaxed) != 0) {
    for (auto& word : segment.defined) word.store(0, std::memory_order_relaxed);
  }
  segment.clock_steps.store(0, std::memory_order_relaxed);
  return 0;
}

void release_segment(LiveSegment& segment) {
  munmap(segment.base, segment.layout.segment_bytes);
  close(segment.fd);
  segment.base = nullptr;
  segment.fd = -1;
}

bool define_name(LiveSegment& segment, uint16_t id, std::string_view text) {
  if (text.empty()) return true;
  std::atomic<uint64_t>& word = segment.defined[id / 64];
  const uint64_t bit = uint64_t{1} << (id % 64);
  if ((word.load(std::memory_order_acquire) & bit) != 0) return true;
  const uint32_t bytes = journal::definition_bytes(text);
  if (segment.definitions_used.load(std::memory_order_relaxed) + bytes > segment.layout.definitions_bytes) return false;
  const uint32_t at = segment.definitions_used.fetch_add(bytes, std::memory_order_relaxed);
  if (at + bytes > segment.layout.definitions_bytes) return false;
  journal::put_definition(segment.base + segment.layout.definitions_offset,
                          segment.base + segment.layout.mirror_definitions_offset, at, id, text, segment.seed);
  word.fetch_or(bit, std::memory_order_release);
  return true;
}

void store_counter(LiveSegment& segment, journal::Counter counter, uint64_t count) {
  const size_t at = journal::kCountersOffset + static_cast<size_t>(counter) * sizeof(uint64_t);
  const uint64_t word = journal::pack_counter(segment.seed, counter, count);
  for (std::byte* page : {segment.base, segment.base + segment.layout.mirror_page_offset}) {
    std::atomic_ref stored(*reinterpret_cast<uint64_t*>(page + at));
    uint64_t before = stored.load(std::memory_order_relaxed);
    while (journal::unpack_counter(segment.seed, counter, before) < count &&
           !stored.compare_exchange_weak(before, word, std::memory_order_relaxed)) {
    }
  }
}

void store_clock(LiveSegment& segment, int64_t count, const ClockPair& pair) {
  const auto clock_slot = static_cast<uint32_t>(count % journal::kFirstClockStepSlot);
  put_clock_slot(segment, clock_slot, journal::make_clock_pair(segment.seed, clock_slot, count, pair));
}

void store_clock_step(LiveSegment& segment, const ClockPair& after, int64_t step_ns) {
  const uint32_t clock_slot = journal::kFirstClockStepSlot + segment.clock_steps.load(std::memory_order_relaxed);
  if (clock_slot >= journal::kClockSlots) return;
  segment.clock_steps.fetch_add(1, std::memory_order_relaxed);
  put_clock_slot(segment, clock_slot, journal::make_clock_step(segment.seed, clock_slot, after, step_ns));
}

}  // namespace goodput::record
