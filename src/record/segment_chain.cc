// SPDX-License-Identifier: Apache-2.0
#include "record/segment_chain.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>

namespace goodput::record {
namespace {

constexpr size_t kPoolBytes = sizeof(LiveSegment) * kMaxLiveSegments;
constexpr uint64_t kIndexMask = 0xffff'ffff;

// Twice what a housekeeper that keeps up has mapped. To make a small segment delays a recording thread the least (15
// µs; a large one 0.2 ms); to seal one takes two syncs, whatever its size, so that small ones alone would never be
// caught up with.
constexpr uint64_t kBehindBytes = 8 * uint64_t{journal::kMaxSegmentBytes};

}  // namespace

bool SegmentChain::open() {
  void* memory = mmap(nullptr, kPoolBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  pool_ = static_cast<LiveSegment*>(memory);  // all zero is a segment that is not in use
  handed_out_.store(1, std::memory_order_relaxed);
  failure_.store(ENOENT, std::memory_order_relaxed);
  return true;
}

SegmentChain::~SegmentChain() {
  if (pool_ != nullptr) munmap(static_cast<void*>(pool_), kPoolBytes);
}

LiveSegment* SegmentChain::new_segment() {
  uint64_t top = free_.load(std::memory_order_acquire);
  while ((top & kIndexMask) != 0) {
    LiveSegment& segment = pool_[(top & kIndexMask) - 1];
    const uint64_t below = (top & ~kIndexMask) | segment.next_free.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(top, below, std::memory_order_acq_rel)) return &segment;
  }
  if (handed_out_.load(std::memory_order_relaxed) >= kMaxLiveSegments) return nullptr;
  const uint32_t index = handed_out_.fetch_add(1, std::memory_order_relaxed);
  return index < kMaxLiveSegments ? &pool_[index] : nullptr;
}

void SegmentChain::recycle(LiveSegment& segment) {
  mapped_bytes_.fetch_sub(segment.layout.segment_bytes, std::memory_order_relaxed);
  put_back(segment);
}

void SegmentChain::put_back(LiveSegment& segment) {
  const auto index = static_cast<uint64_t>(&segment - pool_);
  uint64_t top = free_.load(std::memory_order_relaxed);
  uint64_t with_segment = 0;
  do {
    segment.next_free.store(static_cast<uint32_t>(top), std::memory_order_relaxed);
    with_segment = (((top >> 32) + 1) << 32) | (index + 1);
  } while (!free_.compare_exchange_weak(top, with_segment, std::memory_order_acq_rel));
}

int SegmentChain::add_segment(uint32_t bytes) {
  LiveSegment* segment = new_segment();
  int error = segment == nullptr ? ENOBUFS : 0;
  if (mapped_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > limit_bytes_) error = ENOSPC;
  if (error == 0) error = prepare_segment(*segment, folder(), header_, next_number_, bytes);
  if (error == 0) {
    append(*segment);
  } else {
    mapped_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if (segment != nullptr) put_back(*segment);
  }
  set_failure(error);
  return error;
}

LiveSegment* SegmentChain::after(const LiveSegment& segment) const {
  LiveSegment* next = segment.next.load(std::memory_order_acquire);
  return next == end_mark() ? nullptr : next;
}

void SegmentChain::append(LiveSegment& segment) {
  for (;;) {
    LiveSegment* start = current();
    LiveSegment* tail = start;
    LiveSegment* next = start;
    while (next != nullptr && next != end_mark()) {
      tail = next;
      next = tail->next.load(std::memory_order_acquire);
    }
    if (start == nullptr || next == end_mark()) {  // nothing may follow: the chain begins anew
      if (!current_.compare_exchange_strong(start, &segment, std::memory_order_acq_rel)) continue;
      first_.store(&segment, std::memory_order_release);
      return;
    }
    if (tail->next.compare_exchange_strong(next, &segment, std::memory_order_acq_rel)) return;
  }
}

Run SegmentChain::take_run() {
  Run run;
  for (;;) {
    LiveSegment* segment = current();
    if (segment != nullptr) {
      if (segment->next_run.load(std::memory_order_relaxed) < segment->layout.runs) {
        run.index = segment->next_run.fetch_add(1, std::memory_order_relaxed);
        if (run.index < segment->layout.runs) {
          run.segment = segment;
          run.was_last_spare = after(*segment) == nullptr;
          return run;
        }
      }
      if (LiveSegment* next = after(*segment); next != nullptr) {
        current_.compare_exchange_strong(segment, next, std::memory_order_acq_rel);
        continue;
      }
    }
    const bool is_behind = mapped_bytes_.load(std::memory_order_relaxed) >= kBehindBytes;
    if (failure() != 0 || add_segment(is_behind ? journal::kMaxSegmentBytes : journal::kMinSegmentBytes) != 0)
      return run;
    run.prepared_here = true;
  }
}

LiveSegment* SegmentChain::oldest() {
  if (oldest_ == nullptr) oldest_ = first_.exchange(nullptr, std::memory_order_acq_rel);
  return oldest_;
}

uint32_t SegmentChain::spares() const {
  uint32_t count = 0;
  const LiveSegment* segment = current();
  while (segment != nullptr && (segment = after(*segment)) != nullptr) ++count;
  return count;
}

void SegmentChain::take_out(LiveSegment& oldest) { oldest_ = after(oldest); }

void SegmentChain::abandon_through(LiveSegment& last) {
  for (LiveSegment* segment = oldest(); segment != nullptr; segment = after(*segment)) {
    segment->close();
    if (segment == &last) break;
  }
  LiveSegment* next = nullptr;
  last.next.compare_exchange_strong(next, end_mark(), std::memory_order_acq_rel);
  next = after(last);
  LiveSegment* at = current();
  while (is_within(at, last) && !current_.compare_exchange_strong(at, next, std::memory_order_acq_rel)) {
  }
}

bool SegmentChain::is_within(const LiveSegment* segment, const LiveSegment& last) {
  for (const LiveSegment* each = oldest(); each != nullptr; each = after(*each)) {
    if (each == segment) return true;
    if (each == &last) break;
  }
  return false;
}

}  // namespace goodput::record
