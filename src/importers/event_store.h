// A sequence of events that is written once, front to back, and read in blocks: in memory up to a bound, beyond it in a
// temporary file that has no name.
//
//   Spool spool{.memory_left = 64 << 20, .directory = "/var/tmp"};
//   EventStore store(spool, origins);
//   RETURN_IF_ERROR(store.append(stored)); …
//   RETURN_IF_ERROR(store.finish());
//   Block block;
//   for (size_t i = 0; i < store.blocks(); ++i) { RETURN_IF_ERROR(store.load(i, block)); use(block.events); }
//
// One thread. Failures (no room for the temporary file) are kNoSpace or kUnreadable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "event/event.h"
#include "importers/stored_event.h"

namespace goodput::importers {

/// What the stores of one import share.
struct Spool {
  size_t memory_left = 0;      ///< bytes of events that may still be kept in memory
  std::string directory = {};  ///< of temporary files
};

/// Events of one block, decoded. Reused, so that reading on allocates nothing.
struct Block {
  std::vector<event::Event> events;  ///< names and details are views into the rest of this
  std::vector<StoredEvent> stored;   ///< the same with what goes beyond an event
  std::vector<event::Detail> details;
  std::string bytes;
};

class EventStore {
 public:
  /// 512 events: 8 to 10 KB, decoded in 15 µs; an edge of a window reads one in vain.
  static constexpr size_t kEventsPerBlock = 512;

  /// Both must outlive the store, which takes memory from the spool and gives it back at its end.
  EventStore(Spool& spool, const OriginTable& origins) : spool_(spool), origins_(origins) {}
  ~EventStore();
  EventStore(const EventStore&) = delete;
  EventStore& operator=(const EventStore&) = delete;

  Status append(const StoredEvent& stored);
  /// After the last append(), before the first load().
  Status finish();

  [[nodiscard]] size_t blocks() const { return index_.size(); }
  [[nodiscard]] uint64_t events() const { return events_; }
  /// The range of the times in a block, events without a time of their own apart; a block of only such has the end of
  /// the one before.
  [[nodiscard]] int64_t first_ns(size_t block) const { return index_[block].first_ns; }
  [[nodiscard]] int64_t last_ns(size_t block) const { return index_[block].last_ns; }
  [[nodiscard]] bool spooled() const { return fd_ >= 0; }
  /// From now on the position of every event is {0, ordinal}, whatever its `sequence` says.
  void ignore_sequences() { sequences_count_ = false; }

  /// Reads and decodes one block.
  Status load(size_t block, Block& into) const;

 private:
  struct Place {
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    uint64_t offset = 0;
    uint32_t length = 0;
    uint32_t events = 0;
  };

  Status close_block();
  Status move_to_file();
  Status write(const std::string& bytes, uint64_t offset);

  Spool& spool_;
  const OriginTable& origins_;
  std::vector<Place> index_;
  std::vector<std::string> in_memory_;  // one a block, until it moves to the file
  std::string open_;                    // the block being written
  Place open_place_;
  EventEncoder encoder_;
  uint64_t events_ = 0;
  uint64_t memory_taken_ = 0;
  uint64_t file_bytes_ = 0;
  int fd_ = -1;
  bool sequences_count_ = true;
};

}  // namespace goodput::importers
