// SPDX-License-Identifier: Apache-2.0
#include "journal/event_columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/varint.h"
#include "journal/predictors.h"
#include "journal/sealed_format.h"

namespace goodput::journal {
namespace {

EventShape shape_of(const LiveEvent& event) {
  EventShape shape{.kind = event.kind, .flags = event.flags, .name = event.name};
  if (event.has_work()) shape.attached |= EventShape::kWork;
  if (event.has_times()) shape.attached |= EventShape::kTimes;
  if (event.has_wall_time) shape.attached |= EventShape::kWallTime;
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

constexpr std::array<uint64_t, kMaxNumberBytes + 1> kMasks = [] {
  std::array<uint64_t, kMaxNumberBytes + 1> masks{};
  for (unsigned i = 1; i <= kMaxNumberBytes; ++i) masks[i] = ~uint64_t{0} >> (64 - 8 * i);
  return masks;
}();

/// Reads what a NumberWriter wrote. The caller has checked that all lengths together are what there is, and that eight
/// more bytes can be read.
class NumberReader {
 public:
  explicit NumberReader(const std::byte* at) : at_(at) {}
  uint64_t take(unsigned length) {
    uint64_t number;
    std::memcpy(&number, at_, sizeof(number));
    at_ += length;
    return number & kMasks[length];
  }

 private:
  const std::byte* at_;
};

/// Doubles that repeat cost nothing; whole ones have zeros at the low end, which the swap brings to the top.
uint64_t double_residual(uint64_t bits, uint64_t before) { return __builtin_bswap64(bits ^ before); }
uint64_t double_bits(uint64_t residual, uint64_t before) { return __builtin_bswap64(residual) ^ before; }

/// Numbers kinds by their first appearance among a block's shapes.
class KindNumbers {
 public:
  KindNumbers() { numbers_.fill(kAbsent); }
  uint8_t number(event::Kind kind) {
    uint8_t& number = numbers_[static_cast<uint8_t>(kind)];
    if (number == kAbsent) number = count_++;
    return number;
  }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  static constexpr uint8_t kAbsent = 0xff;
  std::array<uint8_t, 256> numbers_;
  uint8_t count_ = 0;
};

/// Where a lane stands within a block.
struct LaneState {
  uint16_t lane = 0;
  size_t before = 0;  // number of the last event's kind
  int64_t boot_ns = 0;
};

LaneState& state_of(std::vector<LaneState>& lanes, uint16_t lane, size_t no_kind, int64_t base_ns) {
  for (LaneState& state : lanes) {
    if (state.lane == lane) return state;
  }
  return lanes.emplace_back(LaneState{.lane = lane, .before = no_kind, .boot_ns = base_ns});
}

/// Attached values, each predicted to be the one before.
struct AttachmentPredictor {
  int64_t ahead_ns = 0;  // wall time less boot time
  int64_t duration_ns = 0;
  std::array<uint64_t, 3> work{};
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
    const uint64_t first_number = stored.event.number + 1 - slots;
    if (pieces.empty() || pieces.back().lane != stored.event.lane || first_slot != next_slot ||
        first_number != next_number) {
      pieces.push_back({.events = 0, .slot = first_slot, .number = first_number, .lane = stored.event.lane});
    }
    ++pieces.back().events;
    next_slot = stored.slot + 1;
    next_number = stored.event.number + 1;
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
      TimePredictor::Mean& mean = times.mean(lane.before, kind);
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

/// Takes small fields from the front of a block; remembers that one was cut short.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> in) : in_(in) {}
  uint64_t take(uint64_t at_most) {
    uint64_t value = 0;
    if (!get_varint(in_, value) || value > at_most) ok_ = false;
    return ok_ ? value : 0;
  }
  std::span<const std::byte> take_bytes(size_t size) {
    if (size > in_.size()) ok_ = false;
    if (!ok_) return {};
    const auto taken = in_.first(size);
    in_ = in_.subspan(size);
    return taken;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::span<const std::byte> rest() const { return in_; }

 private:
  std::span<const std::byte> in_;
  bool ok_ = true;
};

class ColumnsDecoder {
 public:
  ColumnsDecoder(std::span<const std::byte> plain, uint32_t events, EventColumns& columns)
      : in_(plain), events_(events), columns_(&columns) {}

  bool decode() {
    if (events_ > kMaxBlockEvents || !read_pieces() || !read_shapes()) return false;
    base_ns_ = static_cast<int64_t>(in_.take(~uint64_t{0}));
    const size_t attached = in_.take(5 * uint64_t{events_});
    const auto shape = in_.take_bytes(events_);
    const auto lengths = in_.take_bytes(events_);
    const auto attachment_lengths = in_.take_bytes(attached);
    if (!in_.ok()) return false;

    columns_->shape.resize(events_);
    if (events_ > 0) std::memcpy(columns_->shape.data(), shape.data(), events_);
    for (const uint8_t index : columns_->shape) {
      if (index >= columns_->shapes.size()) return false;
    }
    size_t bytes = 0, attached_bytes = 0;
    for (const std::byte pair : lengths) {
      const auto time = static_cast<unsigned>(pair) & 15, value = static_cast<unsigned>(pair) >> 4;
      if (time > kMaxNumberBytes || value > kMaxNumberBytes) return false;
      bytes += time + value;
    }
    for (const std::byte length : attachment_lengths) {
      if (static_cast<unsigned>(length) > kMaxNumberBytes) return false;
      attached_bytes += static_cast<unsigned>(length);
    }
    if (in_.rest().size() != bytes + attached_bytes) return false;
    // The last number is read with seven bytes of what follows it: of a copy with room after it.
    numbers_.assign(in_.rest().begin(), in_.rest().end());
    numbers_.resize(numbers_.size() + kMaxNumberBytes);
    decode_times_and_values(lengths, NumberReader(numbers_.data()));
    return decode_attachments(attachment_lengths, NumberReader(numbers_.data() + bytes));
  }

 private:
  bool read_pieces() {
    uint64_t left = events_;
    columns_->pieces.resize(in_.take(events_));
    for (EventPiece& piece : columns_->pieces) {
      piece.lane = static_cast<uint16_t>(in_.take(0xffff));
      piece.number = in_.take(kLaneNumberMask);
      piece.slot = static_cast<uint32_t>(in_.take(kMaxReadableSegmentBytes / kSlotBytes));
      piece.events = static_cast<uint32_t>(in_.take(left));
      left -= piece.events;
    }
    return in_.ok() && left == 0;
  }

  bool read_shapes() {
    columns_->shapes.resize(in_.take(kMaxShapes));
    kind_.clear();
    for (EventShape& shape : columns_->shapes) {
      shape.kind = static_cast<event::Kind>(in_.take(kFirstSlotKind - 1));
      shape.flags = static_cast<uint8_t>(in_.take(0xff));
      shape.attached = static_cast<uint8_t>(in_.take(7));
      shape.name = static_cast<uint16_t>(in_.take(0xffff));
      kind_.push_back(kinds_.number(shape.kind));
    }
    return in_.ok();
  }

  void decode_times_and_values(std::span<const std::byte> lengths, NumberReader numbers) {
    TimePredictor times(kinds_.count());
    std::vector<ValuePredictor> values(kinds_.count());
    std::vector<LaneState> lanes;
    columns_->boot_ns.resize(events_);
    columns_->value.resize(events_);
    size_t i = 0;
    for (const EventPiece& piece : columns_->pieces) {
      LaneState& lane = state_of(lanes, piece.lane, kinds_.count(), base_ns_);
      size_t before = lane.before;
      int64_t boot_ns = lane.boot_ns;
      for (const size_t end = i + piece.events; i < end; ++i) {
        const auto pair = static_cast<unsigned>(lengths[i]);
        const size_t kind = kind_[columns_->shape[i]];
        TimePredictor::Mean& mean = times.mean(before, kind);
        const int64_t delta = wrapping_add(unzigzag(numbers.take(pair & 15)), mean.expected());
        mean.learn(delta);
        boot_ns = wrapping_add(boot_ns, delta);
        columns_->boot_ns[i] = boot_ns;
        const int64_t value = wrapping_add(unzigzag(numbers.take(pair >> 4)), values[kind].expected());
        values[kind].learn(value);
        columns_->value[i] = value;
        before = kind;
      }
      lane.before = before;
      lane.boot_ns = boot_ns;
    }
  }

  bool decode_attachments(std::span<const std::byte> lengths, NumberReader numbers) {
    columns_->attachments.clear();
    AttachmentPredictor before;
    size_t next = 0;
    const auto take = [&]() -> uint64_t {
      if (next >= lengths.size()) {
        ++next;
        return 0;
      }
      return numbers.take(static_cast<unsigned>(lengths[next++]));
    };
    for (size_t i = 0; i < events_; ++i) {
      const EventShape& shape = columns_->shapes[columns_->shape[i]];
      if (shape.attached == 0) continue;
      if ((shape.attached & EventShape::kTimes) != 0) {
        before.ahead_ns = wrapping_add(before.ahead_ns, unzigzag(take()));
        before.duration_ns = wrapping_add(before.duration_ns, unzigzag(take()));
      }
      if ((shape.attached & EventShape::kWork) != 0) {
        for (uint64_t& bits : before.work) bits = double_bits(take(), bits);
      }
      columns_->attachments.push_back({.wall_ns = wrapping_add(columns_->boot_ns[i], before.ahead_ns),
                                       .duration_ns = before.duration_ns,
                                       .tokens = std::bit_cast<double>(before.work[0]),
                                       .samples = std::bit_cast<double>(before.work[1]),
                                       .flops = std::bit_cast<double>(before.work[2])});
    }
    return next == lengths.size();
  }

  FieldReader in_;
  uint32_t events_;
  EventColumns* columns_;
  KindNumbers kinds_;
  std::vector<size_t> kind_;  // of each shape, numbered within the block
  std::vector<std::byte> numbers_;
  int64_t base_ns_ = 0;
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

bool decode_columns(std::span<const std::byte> plain, uint32_t events, EventColumns& columns) {
  return ColumnsDecoder(plain, events, columns).decode();
}

LiveEvent event_at(const EventColumns& columns, size_t i, const EventAttachment* attachment) {
  const EventShape& shape = columns.shapes[columns.shape[i]];
  LiveEvent event{.kind = shape.kind,
                  .flags = shape.flags,
                  .name = shape.name,
                  .boot_ns = columns.boot_ns[i],
                  .value = columns.value[i]};
  if (attachment == nullptr) return event;
  if ((shape.attached & EventShape::kTimes) != 0) event.duration_ns = attachment->duration_ns;
  if ((shape.attached & EventShape::kWallTime) != 0) {
    event.has_wall_time = true;
    event.wall_ns = attachment->wall_ns;
  }
  if ((shape.attached & EventShape::kWork) != 0) {
    event.tokens = attachment->tokens;
    event.samples = attachment->samples;
    event.flops = attachment->flops;
  }
  return event;
}

}  // namespace goodput::journal
