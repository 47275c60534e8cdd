// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/varint.h"
#include "journal/event_columns.h"
#include "journal/predictors.h"
#include "journal/sealed_format.h"

namespace goodput::journal {
namespace {

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

/// The sum of lengths, each of which must be one: of two in each byte, or of one. Eight bytes at a time.
std::optional<size_t> total_length(std::span<const std::byte> lengths, bool pairs) {
  constexpr uint64_t kLowHalves = 0x0f0f'0f0f'0f0f'0f0f, kOnes = 0x0101'0101'0101'0101, kSixteens = 0x10 * kOnes;
  static_assert(kMaxNumberBytes + 7 == 15, "a longer one overflows into the bit of sixteen");
  size_t sum = 0;
  uint64_t invalid = 0;
  for (size_t at = 0; at < lengths.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, lengths.data() + at, std::min<size_t>(8, lengths.size() - at));
    const uint64_t low = word & kLowHalves, high = (word >> 4) & kLowHalves;
    invalid |= ((low + 7 * kOnes) | (high + 7 * kOnes)) & kSixteens;
    if (!pairs) invalid |= high;
    sum += ((low + high) * kOnes) >> 56;
  }
  if (invalid != 0) return std::nullopt;
  return sum;
}

class ColumnsDecoder {
 public:
  ColumnsDecoder(std::span<const std::byte> plain, uint32_t events, EventColumns& columns)
      : in_(plain), events_(events), columns_(&columns) {}

  bool decode() {
    if (events_ > kMaxBlockEvents || !read_pieces() || !read_shapes()) return false;
    base_ns_ = static_cast<int64_t>(in_.take(~uint64_t{0}));
    const size_t attached = in_.take(kMaxAttachedNumbers * uint64_t{events_});
    const auto shape = in_.take_bytes(events_);
    const auto lengths = in_.take_bytes(events_);
    const auto attachment_lengths = in_.take_bytes(attached);
    if (!in_.ok()) return false;

    columns_->shape.resize(events_);
    if (events_ > 0) std::memcpy(columns_->shape.data(), shape.data(), events_);
    const uint8_t last_shape = events_ == 0 ? 0 : *std::max_element(columns_->shape.begin(), columns_->shape.end());
    if (events_ > 0 && last_shape >= columns_->shapes.size()) return false;
    if (!fits_slots()) return false;
    const std::optional<size_t> bytes = total_length(lengths, true);
    const std::optional<size_t> attached_bytes = total_length(attachment_lengths, false);
    if (!bytes || !attached_bytes || in_.rest().size() != *bytes + *attached_bytes) return false;
    // The last number is read with seven bytes of what follows it: of a copy with room after it.
    numbers_.assign(in_.rest().begin(), in_.rest().end());
    numbers_.resize(numbers_.size() + kMaxNumberBytes);
    decode_times_and_values(lengths, NumberReader(numbers_.data()));
    return decode_attachments(attachment_lengths, NumberReader(numbers_.data() + *bytes));
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
      shape.attached = static_cast<uint8_t>(in_.take(EventShape::kAllAttached));
      shape.name = static_cast<uint16_t>(in_.take(0xffff));
      kind_.push_back(kinds_.number(shape.kind));
      if ((shape.attached & EventShape::kWallTime) != 0 && (shape.attached & EventShape::kTimes) == 0) return false;
    }
    return in_.ok();
  }

  /// No event stands behind the last slot that a segment can have.
  [[nodiscard]] bool fits_slots() const {
    constexpr uint64_t kEnd = kMaxReadableSegmentBytes / kSlotBytes;
    size_t i = 0;
    for (const EventPiece& piece : columns_->pieces) {
      uint64_t end = uint64_t{piece.slot} + uint64_t{kMaxEventSlots} * piece.events;
      if (end > kEnd) {
        end = piece.slot;
        for (size_t k = i; k < i + piece.events; ++k) end += columns_->shapes[columns_->shape[k]].slots();
      }
      if (end > kEnd) return false;
      i += piece.events;
    }
    return true;
  }

  void decode_times_and_values(std::span<const std::byte> lengths, NumberReader numbers) {
    TimePredictor times(kinds_.count());
    std::vector<ValuePredictor> values(kinds_.count());
    std::vector<LaneState> lanes;
    columns_->boot_ns.resize(events_);
    columns_->value.resize(events_);
    const uint8_t* const shape = columns_->shape.data();
    int64_t* const boot_out = columns_->boot_ns.data();
    int64_t* const value_out = columns_->value.data();
    size_t i = 0;
    for (const EventPiece& piece : columns_->pieces) {
      LaneState& lane = state_of(lanes, piece.lane, kinds_.count(), base_ns_);
      size_t before = lane.before;
      int64_t boot_ns = lane.boot_ns;
      for (const size_t end = i + piece.events; i < end; ++i) {
        const auto pair = static_cast<unsigned>(lengths[i]);
        const size_t kind = kind_[shape[i]];
        TimePredictor::Mean& mean = times.row(before)[kind];
        const int64_t delta = wrapping_add(unzigzag(numbers.take(pair & 15)), mean.expected());
        mean.learn(delta);
        boot_ns = wrapping_add(boot_ns, delta);
        boot_out[i] = boot_ns;
        ValuePredictor& values_of_kind = values[kind];
        const int64_t value = wrapping_add(unzigzag(numbers.take(pair >> 4)), values_of_kind.expected());
        values_of_kind.learn(value);
        value_out[i] = value;
        before = kind;
      }
      lane.before = before;
      lane.boot_ns = boot_ns;
    }
  }

  bool decode_attachments(std::span<const std::byte> lengths, NumberReader numbers) {
    columns_->attachments.clear();
    const auto& shapes = columns_->shapes;
    if (std::none_of(shapes.begin(), shapes.end(), [](const EventShape& shape) { return shape.attached != 0; })) {
      return lengths.empty();
    }
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
      ImportedFacts imported;
      if ((shape.attached & EventShape::kImported) != 0) {
        AttachmentPredictor::ImportedResiduals residuals;
        for (uint64_t& residual : residuals) residual = take();
        imported = before.imported(residuals);
        before.learn(imported);
      }
      columns_->attachments.push_back({.wall_ns = wrapping_add(columns_->boot_ns[i], before.ahead_ns),
                                       .duration_ns = before.duration_ns,
                                       .tokens = std::bit_cast<double>(before.work[0]),
                                       .samples = std::bit_cast<double>(before.work[1]),
                                       .flops = std::bit_cast<double>(before.work[2]),
                                       .imported = imported});
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
  if ((shape.attached & EventShape::kImported) != 0) {
    event.is_imported = true;
    event.imported = attachment->imported;
  }
  return event;
}

}  // namespace goodput::journal
