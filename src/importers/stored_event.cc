// SPDX-License-Identifier: Apache-2.0
#include "importers/stored_event.h"

#include <bit>
#include <cstring>

#include "base/status.h"
#include "base/varint.h"

namespace goodput::importers {
namespace {

using event::Detail;
using event::Event;

/// What follows the fixed part of an event. Bits of a varint.
enum Part : uint64_t {
  kHasStepPart = 1,
  kHasDuration = 2,
  kHasName = 4,
  kHasOrigin = 8,
  kHasExit = 16,
  kHasSequencePart = 32,
  kHasKeyPart = 64,
  kHasTexts = 128,
  kHasSlices = 256,
  kHasWork = 512,
};

uint64_t parts_of(const StoredEvent& stored) {
  const Event& e = stored.event;
  uint64_t parts = 0;
  if (e.step != 0) parts |= kHasStepPart;
  if (e.duration_ns != 0) parts |= kHasDuration;
  if (!e.name.empty()) parts |= kHasName;
  if (stored.origin_id != 0) parts |= kHasOrigin;
  if (e.exit_value != 0) parts |= kHasExit;
  if (stored.has_sequence) parts |= kHasSequencePart;
  if (stored.has_key) parts |= kHasKeyPart;
  if (e.detail == nullptr) return parts;
  if (e.kind == event::Kind::kSliceCounts) return parts | kHasSlices;
  const bool step = e.kind == event::Kind::kStepStart || e.kind == event::Kind::kStepEnd;
  return parts | (step ? kHasWork : kHasTexts);
}

/// Differences wrap around, as unsigned numbers do.
void put_change(std::string& bytes, uint64_t now, uint64_t before) {
  put_varint(bytes, zigzag(static_cast<int64_t>(now - before)));
}

void put_fixed(std::string& bytes, uint64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

void put_text(std::string& bytes, std::string_view text) {
  put_varint(bytes, text.size());
  bytes.append(text);
}

void put_detail(std::string& bytes, uint64_t parts, const Detail& detail) {
  if ((parts & kHasTexts) != 0) {
    for (const std::string_view text : {detail.location, detail.cause, detail.text}) put_text(bytes, text);
  }
  if ((parts & kHasSlices) != 0) {
    for (const int64_t count : {detail.active_slices, detail.total_slices, detail.available_slices}) {
      put_varint(bytes, zigzag(count));
    }
  }
  if ((parts & kHasWork) != 0) {
    for (const double work : {detail.tokens, detail.samples, detail.flops})
      put_fixed(bytes, std::bit_cast<uint64_t>(work));
  }
}

/// Takes parts from the front of bytes that we wrote ourselves.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte>& left) : left_(left) {}

  uint64_t varint() {
    uint64_t value = 0;
    CHECK(get_varint(left_, value));
    return value;
  }
  int64_t signed_varint() { return unzigzag(varint()); }
  uint64_t changed(uint64_t before) { return before + static_cast<uint64_t>(signed_varint()); }
  int64_t changed(int64_t before) { return static_cast<int64_t>(changed(static_cast<uint64_t>(before))); }
  uint64_t fixed() {
    uint64_t value = 0;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  uint8_t byte() { return static_cast<uint8_t>(*take(1)); }
  std::string_view text() {
    const uint64_t length = varint();
    return {reinterpret_cast<const char*>(take(length)), length};
  }

 private:
  const std::byte* take(size_t length) {
    CHECK(length <= left_.size());
    const std::byte* const taken = left_.data();
    left_ = left_.subspan(length);
    return taken;
  }

  std::span<const std::byte>& left_;
};

void take_detail(Cursor& in, uint64_t parts, Detail& detail) {
  if ((parts & kHasTexts) != 0) {
    for (std::string_view* const text : {&detail.location, &detail.cause, &detail.text}) *text = in.text();
  }
  if ((parts & kHasSlices) != 0) {
    for (int64_t* const count : {&detail.active_slices, &detail.total_slices, &detail.available_slices}) {
      *count = in.signed_varint();
    }
  }
  if ((parts & kHasWork) != 0) {
    for (double* const work : {&detail.tokens, &detail.samples, &detail.flops})
      *work = std::bit_cast<double>(in.fixed());
  }
}

}  // namespace

void EventEncoder::append(const StoredEvent& stored, std::string& bytes) {
  const Event& e = stored.event;
  const uint64_t parts = parts_of(stored);
  bytes.push_back(static_cast<char>(e.kind));
  bytes.push_back(static_cast<char>(e.flags));
  put_varint(bytes, parts);
  put_change(bytes, static_cast<uint64_t>(e.time_ns), static_cast<uint64_t>(before_.event.time_ns));
  put_change(bytes, stored.ordinal, before_.ordinal);
  put_fixed(bytes, e.fingerprint);
  before_.event.time_ns = e.time_ns;
  before_.ordinal = stored.ordinal;
  if ((parts & kHasStepPart) != 0) {
    put_change(bytes, static_cast<uint64_t>(e.step), static_cast<uint64_t>(before_.event.step));
    before_.event.step = e.step;
  }
  if ((parts & kHasDuration) != 0) put_varint(bytes, zigzag(e.duration_ns));
  if ((parts & kHasName) != 0) put_text(bytes, e.name);
  if ((parts & kHasOrigin) != 0) put_varint(bytes, stored.origin_id);
  if ((parts & kHasExit) != 0) put_varint(bytes, zigzag(e.exit_value));
  if ((parts & kHasSequencePart) != 0) {
    put_change(bytes, e.position.major, before_.event.position.major);
    put_change(bytes, e.position.minor, before_.event.position.minor);
    before_.event.position = e.position;
  }
  if ((parts & kHasKeyPart) != 0) {
    put_change(bytes, static_cast<uint64_t>(stored.key.timestamp_ns), static_cast<uint64_t>(before_.key.timestamp_ns));
    put_text(bytes, stored.key.insert_id);
    put_fixed(bytes, stored.key.log_hash);
    before_.key.timestamp_ns = stored.key.timestamp_ns;
  }
  if (e.detail != nullptr) put_detail(bytes, parts, *e.detail);
}

bool EventDecoder::next(StoredEvent& stored, Detail& detail) {
  if (left_.empty()) return false;
  Cursor in(left_);
  stored = StoredEvent{};
  Event& e = stored.event;
  e.kind = static_cast<event::Kind>(in.byte());
  e.flags = in.byte();
  const uint64_t parts = in.varint();
  e.time_ns = before_.event.time_ns = in.changed(before_.event.time_ns);
  stored.ordinal = before_.ordinal = in.changed(before_.ordinal);
  e.fingerprint = in.fixed();
  e.position = {0, stored.ordinal};
  if ((parts & kHasStepPart) != 0) e.step = before_.event.step = in.changed(before_.event.step);
  if ((parts & kHasDuration) != 0) e.duration_ns = in.signed_varint();
  if ((parts & kHasName) != 0) e.name = in.text();
  if ((parts & kHasOrigin) != 0) stored.origin_id = static_cast<uint32_t>(in.varint());
  e.origin = origins_.at(stored.origin_id);
  if ((parts & kHasExit) != 0) e.exit_value = static_cast<int32_t>(in.signed_varint());
  if ((parts & kHasSequencePart) != 0) {
    stored.has_sequence = true;
    e.position.major = before_.event.position.major = in.changed(before_.event.position.major);
    e.position.minor = before_.event.position.minor = in.changed(before_.event.position.minor);
  }
  if ((parts & kHasKeyPart) != 0) {
    stored.has_key = true;
    stored.key.timestamp_ns = before_.key.timestamp_ns = in.changed(before_.key.timestamp_ns);
    stored.key.insert_id = in.text();
    stored.key.log_hash = in.fixed();
  }
  if ((parts & (kHasTexts | kHasSlices | kHasWork)) != 0) {
    detail = Detail{};
    take_detail(in, parts, detail);
    e.detail = &detail;
  }
  return true;
}

}  // namespace goodput::importers
