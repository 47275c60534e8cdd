// The events of many segments of many journals in one order: by (time, position).
//
// Add what is to be read, then run(): segments are opened when their time comes, blocks decoded when theirs does, and
// let go when their last event is handed out. What is open at a time is what overlaps in time.
//
//   EventStream stream({.from_ns = a, .to_ns = b}, decompressor);
//   stream.add(journal, part);
//   RETURN_IF_ERROR(stream.run(sink));
//
// One thread, one run().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "event/source.h"
#include "journal/event_batch.h"
#include "journal/journal_file.h"

namespace goodput::journal {

/// Events that stand at or behind `position` in the log of a journal have this origin.
struct OriginFrom {
  event::Position position;
  const event::Origin* origin = nullptr;
};

/// How a journal's events become those of a job.
struct JournalView {
  JournalFile* file = nullptr;
  Directory* run_folder = nullptr;
  int64_t wall_less_boot_ns = 0;
  uint64_t writer_bits = 0;             ///< of Position::minor, in their place
  std::vector<OriginFrom> origins;      ///< by position; the first holds from the beginning
  ImportedOrigins* imported = nullptr;  ///< of an imported journal: who its events say that recorded them

  [[nodiscard]] int64_t first_ns(const TimeBounds& times) const;
  [[nodiscard]] int64_t last_ns(const TimeBounds& times) const;
  [[nodiscard]] event::Position position_of(int64_t boot_ns, uint32_t segment, uint32_t slot) const;
};

class EventStream {
 public:
  struct Range {
    int64_t from_ns = std::numeric_limits<int64_t>::min();
    int64_t to_ns = std::numeric_limits<int64_t>::max();  ///< not included
    bool states_losses = false;                           ///< damage that is found is entered with its journal
    bool with_untimed = false;                            ///< imported entries without a time of their own too
  };

  EventStream(const Range& range, Decompressor& decompressor) : range_(range), decompressor_(&decompressor) {}

  void add(JournalView& journal, FreshPart part);
  /// All that was given out of a segment.
  void add(JournalView& journal, const SegmentState& segment);
  /// Events in memory, in any order; their origins, names and details are the caller's.
  void add(std::vector<event::Event> events);

  /// Until `sink` returns false. A segment that cannot be read is a loss, not a failure.
  Status run(event::Source::Sink sink);

 private:
  /// A segment, or part of one.
  struct Part {
    JournalView* journal = nullptr;
    FreshPart fresh;
    std::unique_ptr<File> file;
    std::optional<SealedReader> reader;
    std::shared_ptr<const NameTable> names;
    size_t blocks_left = 0;
  };
  /// Decoded events, in order, of which the first `next` were handed out.
  struct Run {
    EventBatch batch;
    size_t next = 0;
    size_t part = kNoPart;
  };
  /// What has a place in the order: a part or a block that is not open yet, by its earliest time, or a run by its next
  /// event.
  struct Item {
    enum class What : uint8_t { kPart, kBlock, kRun } what = What::kPart;
    int64_t time_ns = 0;
    event::Position position;
    size_t index = 0;  ///< of the part, or of the run
    size_t block = 0;
  };
  static constexpr size_t kNoPart = ~size_t{0};
  static constexpr size_t kGathered = 256;

  static bool stands_after(const Item& a, const Item& b);
  static bool stands_before_item(const event::Event& event, const Item& item);
  void push(const Item& item);
  Item pop();
  void open_part(size_t index);
  bool open_sealed(size_t index, Directory& folder);
  bool open_live(size_t index, Directory& folder);
  void load_events(size_t index);
  void load_block(size_t index, size_t block);
  Run& new_run(size_t part);
  void start_run(Run& run);
  void keep_wanted(const Part& part, EventBatch& batch) const;
  void set_origins(const JournalView& journal, std::span<event::Event> events) const;
  bool hand_out(size_t index, event::Source::Sink sink);
  bool interleave(size_t first, size_t second, event::Source::Sink sink);
  bool put_back(size_t index, event::Source::Sink sink);
  bool flush(event::Source::Sink sink);
  void end_run(size_t index);
  static void close_part(Part& part);
  [[nodiscard]] bool overlaps(int64_t first_ns, int64_t last_ns) const;

  Range range_;
  Decompressor* decompressor_;
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<size_t> free_runs_;
  std::vector<Item> heap_;
  std::vector<event::Event> gathered_;
  EventColumns columns_;
};

}  // namespace goodput::journal
