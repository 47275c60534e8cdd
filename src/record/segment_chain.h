// The live segments of one journal, in the order in which they are filled, and the supply of prepared ones.
//
// Recording threads take runs from it; the housekeeper appends prepared segments and takes out those that are full.
//
//   Run run = chain.take_run();                    // from the newest segment in use, else from the next prepared one,
//   if (run.segment == nullptr) lose(chain.failure());     // else from one that the caller makes now
//   …
//   if (!chain.has_spare()) chain.add_segment(bytes);      // housekeeper
//
// No lock and no allocation, so that signal handlers may take runs. Callers other than the housekeeper hold a LaneUse
// or a Pin while they use a segment: it is released when none of them can have it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "record/live_segment.h"

namespace goodput::record {

/// More than fill up while a sync hangs for a day at 4 events a second, or for 60 ms at full speed. Beyond, preparing
/// fails with ENOBUFS.
constexpr uint32_t kMaxLiveSegments = 1024;

/// Sizes by number: 64 KiB twice, then doubling to 1 MiB.
constexpr uint32_t segment_bytes_of(uint32_t number) {
  const uint32_t doublings = number < 3 ? 0 : number - 2;
  return doublings >= 4 ? journal::kMaxSegmentBytes : journal::kMinSegmentBytes << doublings;
}
static_assert(segment_bytes_of(2) == journal::kMinSegmentBytes);
static_assert(segment_bytes_of(6) == journal::kMaxSegmentBytes);

struct Run {
  LiveSegment* segment = nullptr;  ///< nullptr: none could be had
  uint32_t index = 0;
  bool prepared_here = false;   ///< this call made a segment
  bool was_last_spare = false;  ///< somebody should prepare
};

class SegmentChain {
 public:
  /// False when there is no memory for it.
  [[nodiscard]] bool open();
  ~SegmentChain();
  SegmentChain() = default;
  SegmentChain(const SegmentChain&) = delete;
  SegmentChain& operator=(const SegmentChain&) = delete;

  /// Where segments are made from now on; before, and after -1, nothing can be made (failure() says why). The
  /// descriptor stays the caller's.
  void set_folder(int folder_fd) { folder_.store(folder_fd, std::memory_order_release); }
  void set_header(const HeaderTemplate& header) { header_ = header; }
  [[nodiscard]] const HeaderTemplate& header() const { return header_; }
  /// Segments that would make it more are refused with ENOSPC.
  void set_limit_bytes(uint64_t bytes) { limit_bytes_ = bytes; }
  [[nodiscard]] int folder() const { return folder_.load(std::memory_order_acquire); }

  Run take_run();
  /// Prepares one of `bytes` and appends it. 0 or errno, which is also remembered.
  int add_segment(uint32_t bytes);
  /// Of the size that its number asks for.
  int add_segment() { return add_segment(segment_bytes_of(next_number_.load(std::memory_order_relaxed))); }
  /// What the last preparation ended with; while it is not 0, callers do not try.
  [[nodiscard]] int failure() const { return failure_.load(std::memory_order_relaxed); }
  void set_failure(int error) { failure_.store(error, std::memory_order_relaxed); }

  /// The newest segment in use; nullptr before there is one.
  [[nodiscard]] LiveSegment* current() const { return current_.load(std::memory_order_acquire); }

  // Of the housekeeper alone.
  /// The first of the chain: the current one, or one before it that is full.
  LiveSegment* oldest();
  /// The one behind it in the chain; nullptr at the end.
  [[nodiscard]] LiveSegment* after(const LiveSegment& segment) const;
  /// Prepared segments behind the current one.
  [[nodiscard]] uint32_t spares() const;
  /// Takes the oldest, which is not the current one, out of the chain. Nobody uses it any more.
  void take_out(LiveSegment& oldest);
  /// Closes every segment up to `last`, and goes on behind it: with the next one, or with none until one is appended.
  void abandon_through(LiveSegment& last);
  /// Of a segment that was taken out and released.
  void recycle(LiveSegment& segment);

 private:
  LiveSegment* new_segment();
  void put_back(LiveSegment& segment);
  [[nodiscard]] LiveSegment* end_mark() const { return pool_; }
  void append(LiveSegment& segment);
  /// Whether it stands between oldest() and `last`.
  [[nodiscard]] bool is_within(const LiveSegment* segment, const LiveSegment& last);

  LiveSegment* pool_ = nullptr;  // its first is never used: as somebody's `next` it means that nothing may follow
  std::atomic<uint32_t> handed_out_{0};
  std::atomic<uint64_t> free_{0};  // a stack: count of pushes:32, index of the topmost + 1:32
  std::atomic<LiveSegment*> current_{nullptr};
  std::atomic<LiveSegment*> first_{nullptr};  // of a chain that begins anew, until the housekeeper sees it
  LiveSegment* oldest_ = nullptr;
  std::atomic<int> folder_{-1};
  std::atomic<int> failure_{0};
  std::atomic<uint32_t> next_number_{1};
  HeaderTemplate header_;
  uint64_t limit_bytes_ = ~uint64_t{0};
  std::atomic<uint64_t> mapped_bytes_{0};
};

}  // namespace goodput::record
