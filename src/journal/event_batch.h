// Events as a ledger takes them, made of what segments store.
//
//   EventBatch batch;
//   batch.append(columns, context);                    // a block of a sealed segment
//   batch.append(stored, context);                     // one event of a live one
//   batch.sort();                                      // by (time, position)
//   sink(batch.events());
//
// A buffer to be used again: clear() keeps its memory. Names and details are valid until then and as long as the
// context's names; one thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "event/event.h"
#include "journal/event_columns.h"
#include "journal/imported_origins.h"

namespace goodput::journal {

/// Position::minor, from the highest bits down: who wrote (journals of one instant are told apart by it), segment,
/// slot.
constexpr int kWriterBits = 24;
constexpr int kSegmentBits = 21;
constexpr int kSlotBits = 19;
static_assert(kWriterBits + kSegmentBits + kSlotBits == 64);
static_assert(kMaxReadableSegmentBytes / kSlotBytes <= 1U << kSlotBits);

/// Who wrote, in the highest bits of Position::minor: by process index, then role, then journal id.
uint64_t writer_bits(int64_t process_index, std::string_view role, const std::array<uint8_t, 16>& journal_id);

/// Whose events these are, and how their segment's times and names read.
struct EventContext {
  int64_t wall_less_boot_ns = 0;  ///< added to boot time
  uint64_t position_base = 0;     ///< writer and segment bits of Position::minor
  const event::Origin* origin = nullptr;
  const NameTable* names = nullptr;
  ImportedOrigins* imported = nullptr;  ///< of an imported journal: events say who recorded them
};

class EventBatch {
 public:
  /// Every event of the columns, in their order.
  void append(const EventColumns& columns, const EventContext& context);
  void append(const StoredEvent& stored, const EventContext& context);

  /// By (time, position). Costs one comparison per event when they are in order already, little more when they are
  /// those of a few threads.
  void sort();
  void clear();

  [[nodiscard]] std::span<event::Event> events() { return events_; }
  [[nodiscard]] std::vector<event::Event>& mutable_events() { return events_; }

 private:
  /// An event of a shape, but for what differs from one to the next.
  struct Template {
    event::Event event;
    uint32_t slots = 1;
    bool is_plain = false;
  };

  event::Detail& new_detail();
  void merge(const std::vector<std::vector<std::span<const event::Event>>>& chains);

  static constexpr size_t kDetailsPerChunk = 256;

  std::vector<event::Event> events_;
  std::vector<event::Event> merged_;  // a buffer
  std::vector<std::unique_ptr<event::Detail[]>> details_;
  size_t details_used_ = 0;
  std::vector<Template> templates_;  // by shape of the block at hand
};

/// The order in which a ledger wants events.
inline bool stands_before(const event::Event& a, const event::Event& b) {
  return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.position < b.position;
}

}  // namespace goodput::journal
