// An event as an import keeps it: a few bytes in a row of others.
//
// Each is written as what differs from the one before, in a block that can be read by itself: 15 to 20 bytes for a
// step.
//
//   EventEncoder encoder;                       // of one block
//   encoder.append(stored, bytes);
//   EventDecoder decoder(bytes, origins);
//   while (decoder.next(stored, detail)) …      // names and details are views into `bytes`
//
// Not a file format: it is written and read by one process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "event/event.h"
#include "importers/origin_table.h"

namespace goodput::importers {

/// What an export says of the log entry around an event; it decides the order of the log there.
struct EntryKey {
  int64_t timestamp_ns = 0;
  std::string_view insert_id = {};
  uint64_t log_hash = 0;
};

struct StoredEvent {
  event::Event event = {};  ///< its position is `sequence` where it has one, else {0, ordinal}
  uint64_t ordinal = 0;     ///< of its entry in the file
  uint32_t origin_id = 0;
  bool has_sequence = false;
  bool has_key = false;
  EntryKey key = {};
};

class EventEncoder {
 public:
  /// Appends to the bytes of the block. Details and names are copied.
  void append(const StoredEvent& stored, std::string& bytes);

 private:
  StoredEvent before_;
};

class EventDecoder {
 public:
  /// Both must outlive it.
  EventDecoder(std::span<const std::byte> bytes, const OriginTable& origins) : left_(bytes), origins_(origins) {}

  /// The next event; `detail` holds its detail if it has one, and event.detail points at it. False at the end.
  bool next(StoredEvent& stored, event::Detail& detail);

 private:
  std::span<const std::byte> left_;
  const OriginTable& origins_;
  StoredEvent before_;
};

}  // namespace goodput::importers
