// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/varint.h"
#include "journal/event_columns.h"
#include "journal/predictors.h"
#include "journal/sealed_format.h"

namespace goodput::journal {
namespace {

EventShape shape_of(const LiveEvent& event) {
  EventShape shape{.kind = event.kind, .flags = event.flags, .name = event.name};
  if (event.has_work()) shape.attached |= EventShape::kWork;
  if (event.has_times()) shape.attached |= EventShape::kTimes;
  if (event.has_wall_time) shape.attached |= EventShape::kWallTime;
  if (event.is_imported) shape.attached |= EventShape::kImported;
  return shape;
}

/// Integers of 0 to 8 bytes: their lengths in one place, their bytes in another, so that each is read without a branch.
class NumberWriter {
 public:
  /// Returns the length.
  unsigned put(uint64_t number) {
    const unsigned length = (static_cast<unsigned>(std::bit_width(number)) + 7) / 8;
    const size_t at = bytes_.size();
    bytes_.resize(at + kMaxNumberBytes);
    std::memcpy(bytes_.data() + at, &number, kMaxNumberBytes);
    bytes_.resize(at + length);
    return length;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

template <typename Bytes>
void append(std::vector<std::byte>& out, const Bytes& bytes) {
  const auto raw = std::as_bytes(std::span(bytes));
  out.insert(out.end(), raw.begin(), raw.end());
}

std::vector<EventPiece> pieces_of(std::span<const StoredEvent> events) {
  std::vector<EventPiece> pieces;
  uint32_t next_slot = 0;
  uint64_t next_number = 0;
  for (const StoredEvent& stored : events) {
    const uint32_t slots = shape_of(stored.event).slots();
    const uint32_t first_slot = stored.slot + 1 - slots;
    const uint64_t first_number = (stored.event.number + 1 - slots) & kLaneNumberMask;
    if (pieces.empty() || pieces.back().lane != stored.event.lane || first_slot != next_slot ||
        first_number != next_number) {
      pieces.push_back({.events = 0, .slot = first_slot, .number = first_number, .lane = stored.event.lane});
    }
    ++pieces.back().events;
    next_slot = stored.slot + 1;
    next_number = (stored.event.number + 1) & kLaneNumberMask;
  }
  return pieces;
}

class ColumnsEncoder {
 public:
  explicit ColumnsEncoder(std::span<const StoredEvent> events) : events_(events) {
    for (const StoredEvent& stored : events) shape_.push_back(shape_number(shape_of(stored.event)));
    for (const EventShape& shape : shapes_) kinds_.number(shape.kind);
  }

  void encode(std::vector<std::byte>& plain) {
    encode_times_and_values();
    for (const StoredEvent& stored : events_) encode_attachment(stored.event);

    const std::vector<EventPiece> pieces = pieces_of(events_);
    put_varint(plain, pieces.size());
    for (const EventPiece& piece : pieces) {
      for (const uint64_t field : {uint64_t{piece.lane}, piece.number, uint64_t{piece.slot}, uint64_t{piece.events}}) {
        put_varint(plain, field);
      }
    }
    put_varint(plain, shapes_.size());
    for (const EventShape& shape : shapes_) {
      for (const uint64_t field : {uint64_t{static_cast<uint8_t>(shape.kind)}, uint64_t{shape.flags},
                                   uint64_t{shape.attached}, uint64_t{shape.name}}) {
        put_varint(plain, field);
      }
    }
    put_varint(plain, static_cast<uint64_t>(base_ns()));
    put_varint(plain, attachment_lengths_.size());
    append(plain, shape_);
    append(plain, lengths_);
    append(plain, attachment_lengths_);
    append(plain, numbers_.bytes());
    append(plain, attachment_numbers_.bytes());
  }

 private:
  uint8_t shape_number(const EventShape& shape) {
    const auto found = std::find(shapes_.begin(), shapes_.end(), shape);
    if (found != shapes_.end()) return static_cast<uint8_t>(found - shapes_.begin());
    shapes_.push_back(shape);
    return static_cast<uint8_t>(shapes_.size() - 1);
  }
  [[nodiscard]] int64_t base_ns() const { return events_.empty() ? 0 : events_.front().event.boot_ns; }

  void encode_times_and_values() {
    TimePredictor times(kinds_.count());
    std::vector<ValuePredictor> values(kinds_.count());
    std::vector<LaneState> lanes;
    for (const StoredEvent& stored : events_) {
      const LiveEvent& event = stored.event;
      const size_t kind = kinds_.number(event.kind);
      LaneState& lane = state_of(lanes, event.lane, kinds_.count(), base_ns());
      TimePredictor::Mean& mean = times.row(lane.before)[kind];
      const int64_t delta = wrapping_subtract(event.boot_ns, lane.boot_ns);
      const unsigned time_length = numbers_.put(zigzag(wrapping_subtract(delta, mean.expected())));
      const unsigned value_length = numbers_.put(zigzag(wrapping_subtract(event.value, values[kind].expected())));
      lengths_.push_back(static_cast<uint8_t>(time_length | (value_length << 4)));
      mean.learn(delta);
      values[kind].learn(event.value);
      lane.before = kind;
      lane.boot_ns = event.boot_ns;
    }
  }

  void put_attached(uint64_t number) {
    attachment_lengths_.push_back(static_cast<uint8_t>(attachment_numbers_.put(number)));
  }

  void encode_attachment(const LiveEvent& event) {
    if (event.has_times()) {
      const int64_t ahead_ns =
          event.has_wall_time ? wrapping_subtract(event.wall_ns, event.boot_ns) : attached_.ahead_ns;
      put_attached(zigzag(wrapping_subtract(ahead_ns, attached_.ahead_ns)));
      put_attached(zigzag(wrapping_subtract(event.duration_ns, attached_.duration_ns)));
      attached_.ahead_ns = ahead_ns;
      attached_.duration_ns = event.duration_ns;
    }
    if (event.has_work()) {
      const std::array<uint64_t, 3> work = {std::bit_cast<uint64_t>(event.tokens),
                                            std::bit_cast<uint64_t>(event.samples),
                                            std::bit_cast<uint64_t>(event.flops)};
      for (size_t i = 0; i < work.size(); ++i) put_attached(double_residual(work[i], attached_.work[i]));
      attached_.work = work;
    }
    if (event.is_imported) {
      const ImportedFacts& imported = event.imported;
      for (const uint64_t residual : attached_.residuals(imported)) put_attached(residual);
      attached_.learn(imported);
    }
  }

  std::span<const StoredEvent> events_;
  std::vector<EventShape> shapes_;
  std::vector<uint8_t> shape_;
  KindNumbers kinds_;
  std::vector<uint8_t> lengths_;  // of the time in the low four bits, of the value in the high four
  NumberWriter numbers_;
  std::vector<uint8_t> attachment_lengths_;
  NumberWriter attachment_numbers_;
  AttachmentPredictor attached_;
};

}  // namespace

size_t max_block_events(std::span<const StoredEvent> events) {
  std::vector<EventShape> shapes;
  const size_t most = std::min<size_t>(events.size(), kMaxBlockEvents);
  for (size_t i = 0; i < most; ++i) {
    const EventShape shape = shape_of(events[i].event);
    if (std::find(shapes.begin(), shapes.end(), shape) != shapes.end()) continue;
    if (shapes.size() == kMaxShapes) return i;
    shapes.push_back(shape);
  }
  return most;
}

void encode_columns(std::span<const StoredEvent> events, std::vector<std::byte>& plain) {
  ColumnsEncoder(events).encode(plain);
}

}  // namespace goodput::journal
