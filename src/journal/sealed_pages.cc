// SPDX-License-Identifier: Apache-2.0
#include "journal/sealed_pages.h"

#include <array>
#include <cstring>
#include <string>

#include "base/checksum.h"
#include "base/varint.h"

namespace goodput::journal {
namespace {

Status not_a_header(const char* why) {
  return Status(StatusCode::kUnreadable, std::string("reading the header of a sealed segment: ") + why);
}

std::vector<std::byte> live_bytes(const LiveHeader& live) {
  std::array<std::byte, kHeaderBytes> copy;
  encode_header(live, copy);
  RawHeader raw;
  std::memcpy(&raw, copy.data(), sizeof(raw));
  return {copy.begin(), copy.begin() + raw.used_bytes};
}

bool take_signed(std::span<const std::byte>& in, int64_t& value) {
  uint64_t raw = 0;
  if (!get_varint(in, raw)) return false;
  value = unzigzag(raw);
  return true;
}

bool take_counters(std::span<const std::byte>& in, CounterValues& counters) {
  uint64_t count = 0, index = 0;
  if (!get_varint(in, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!get_varint(in, index) || index >= kCounterWords || !get_varint(in, counters.counts[index])) return false;
  }
  return true;
}

bool take_clock(std::span<const std::byte>& in, ClockSlots& clock) {
  uint64_t count = 0;
  if (!take_signed(in, clock.pairs) || !take_signed(in, clock.latest.boot_ns) ||
      !take_signed(in, clock.latest.wall_ns) || !get_varint(in, count) || count > clock.steps.size()) {
    return false;
  }
  clock.step_count = count;
  for (size_t i = 0; i < count; ++i) {
    ClockStep& step = clock.steps[i];
    if (!take_signed(in, step.after.boot_ns) || !take_signed(in, step.after.wall_ns) ||
        !take_signed(in, step.step_ns)) {
      return false;
    }
  }
  return true;
}

bool take_losses(std::span<const std::byte>& in, std::vector<Loss>& losses) {
  uint64_t count = 0, reason = 0, at_most = 0;
  if (!get_varint(in, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    Loss loss;
    if (!get_varint(in, reason) || !get_varint(in, at_most) || !get_varint(in, loss.events) ||
        !get_varint(in, loss.names) || !get_varint(in, loss.bytes)) {
      return false;
    }
    loss.reason = static_cast<LossReason>(reason);
    loss.at_most = at_most != 0;
    add_loss(losses, loss);
  }
  return true;
}

}  // namespace

uint32_t sealed_header_bytes(const LiveHeader& live) {
  return static_cast<uint32_t>(sizeof(RawSealedHeader) + live_bytes(live).size());
}

void append_sealed_header(std::vector<std::byte>& file, const SealedSizes& sizes, const LiveHeader& live) {
  const std::vector<std::byte> behind = live_bytes(live);
  RawSealedHeader raw{.magic = kSealedMagic,
                      .version = kSealedVersion,
                      .used_bytes = static_cast<uint32_t>(sizeof(RawSealedHeader) + behind.size()),
                      .file_bytes = sizes.file_bytes,
                      .front_bytes = sizes.front_bytes,
                      .events = sizes.events,
                      .event_blocks = sizes.event_blocks,
                      .reserved = 0,
                      .checksum = 0};
  const size_t at = file.size();
  file.resize(at + raw.used_bytes);
  std::memcpy(file.data() + at, &raw, sizeof(raw));
  std::memcpy(file.data() + at + sizeof(raw), behind.data(), behind.size());
  raw.checksum = crc32c_around(std::span(file).subspan(at), offsetof(RawSealedHeader, checksum));
  std::memcpy(file.data() + at, &raw, sizeof(raw));
}

Result<SealedHeader> read_sealed_header(std::span<const std::byte> bytes) {
  RawSealedHeader raw;
  if (bytes.size() < sizeof(raw)) return not_a_header("it is cut short");
  std::memcpy(&raw, bytes.data(), sizeof(raw));
  if (raw.magic != kSealedMagic) return not_a_header("it does not begin as one");
  if (raw.used_bytes < sizeof(raw) || raw.used_bytes > bytes.size() ||
      raw.checksum != crc32c_around(bytes.first(raw.used_bytes), offsetof(RawSealedHeader, checksum))) {
    return not_a_header("it is damaged");
  }
  if (raw.version > kSealedVersion) {
    return Status(StatusCode::kUnsupported, "reading a sealed segment of format version " +
                                                std::to_string(raw.version) + " with a program that knows version " +
                                                std::to_string(kSealedVersion));
  }
  if (raw.front_bytes < raw.used_bytes || raw.file_bytes < raw.front_bytes || raw.file_bytes > kMaxSealedBytes) {
    return not_a_header("its sizes make no sense");
  }
  ASSIGN_OR_RETURN(LiveHeader live, decode_header(bytes.subspan(sizeof(raw), raw.used_bytes - sizeof(raw))));
  return SealedHeader{.sizes = {.file_bytes = raw.file_bytes,
                                .front_bytes = raw.front_bytes,
                                .events = raw.events,
                                .event_blocks = raw.event_blocks},
                      .live = std::move(live),
                      .used_bytes = raw.used_bytes};
}

std::vector<SealedHeader> find_sealed_headers(std::span<const std::byte> file) {
  std::vector<SealedHeader> found;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::string_view magic(kSealedMagic.data(), kSealedMagic.size());
  for (size_t at = text.find(magic); at != std::string_view::npos; at = text.find(magic, at + 1)) {
    if (Result<SealedHeader> header = read_sealed_header(file.subspan(at)); header.ok()) {
      found.push_back(std::move(header).value());
    }
  }
  return found;
}

Result<SealedHeader> find_sealed_header(std::span<const std::byte> file) {
  Result<SealedHeader> first = read_sealed_header(file);
  if (first.ok()) return first;
  std::vector<SealedHeader> found = find_sealed_headers(file);
  if (found.empty()) return first;
  return std::move(found.back());
}

void append_summary(const Segment& segment, std::vector<std::byte>& plain) {
  uint64_t used_counters = 0;
  for (const uint64_t count : segment.counters.counts) used_counters += count != 0 ? 1 : 0;
  put_varint(plain, used_counters);
  for (size_t i = 0; i < segment.counters.counts.size(); ++i) {
    if (segment.counters.counts[i] == 0) continue;
    put_varint(plain, i);
    put_varint(plain, segment.counters.counts[i]);
  }
  const ClockSlots& clock = segment.clock;
  for (const int64_t field : {clock.pairs, clock.latest.boot_ns, clock.latest.wall_ns})
    put_varint(plain, zigzag(field));
  put_varint(plain, clock.step_count);
  for (size_t i = 0; i < clock.step_count; ++i) {
    const ClockStep& step = clock.steps[i];
    for (const int64_t field : {step.after.boot_ns, step.after.wall_ns, step.step_ns}) put_varint(plain, zigzag(field));
  }
  put_varint(plain, segment.losses.size());
  for (const Loss& loss : segment.losses) {
    for (const uint64_t field : {uint64_t{static_cast<uint8_t>(loss.reason)}, uint64_t{loss.at_most ? 1U : 0U},
                                 loss.events, loss.names, loss.bytes}) {
      put_varint(plain, field);
    }
  }
  put_varint(plain, segment.lanes.unattributed());
}

bool take_summary(std::span<const std::byte> plain, Segment& segment) {
  uint64_t unattributed = 0;
  if (!take_counters(plain, segment.counters) || !take_clock(plain, segment.clock) ||
      !take_losses(plain, segment.losses) || !get_varint(plain, unattributed)) {
    return false;
  }
  segment.lanes.add_unattributed(unattributed);
  return true;
}

void append_lane(const LaneExtent& lane, std::vector<std::byte>& plain) {
  put_varint(plain, lane.lane);
  put_varint(plain, lane.first);
  put_varint(plain, lane.end - lane.first);
  put_varint(plain, lane.accounted);
}

bool take_lanes(std::span<const std::byte> plain, Segment& segment) {
  uint64_t lane = 0, first = 0, length = 0, accounted = 0;
  while (!plain.empty()) {
    if (!get_varint(plain, lane) || lane > 0xffff || !get_varint(plain, first) || !get_varint(plain, length) ||
        !get_varint(plain, accounted)) {
      return false;
    }
    segment.lanes.add(static_cast<uint16_t>(lane), first, first + length, accounted);
  }
  return true;
}

void append_name(uint16_t id, std::string_view text, std::vector<std::byte>& plain) {
  put_varint(plain, id);
  put_varint(plain, text.size());
  const auto bytes = std::as_bytes(std::span(text));
  plain.insert(plain.end(), bytes.begin(), bytes.end());
}

bool take_names(std::span<const std::byte> plain, Segment& segment) {
  uint64_t id = 0, length = 0;
  while (!plain.empty()) {
    if (!get_varint(plain, id) || id > 0xffff || !get_varint(plain, length) || length > plain.size()) return false;
    segment.names.add(static_cast<uint16_t>(id),
                      std::string_view(reinterpret_cast<const char*>(plain.data()), static_cast<size_t>(length)));
    plain = plain.subspan(static_cast<size_t>(length));
  }
  return true;
}

}  // namespace goodput::journal
