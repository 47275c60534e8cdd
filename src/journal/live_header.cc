// SPDX-License-Identifier: Apache-2.0
#include "journal/live_header.h"

#include <algorithm>
#include <cstring>

namespace goodput::journal {
namespace {

/// Appends length-prefixed strings while they fit.
class StringWriter {
 public:
  explicit StringWriter(std::span<std::byte> out) : out_(out) {}

  bool put(std::string_view text) {
    const auto length = static_cast<uint16_t>(text.size());
    if (used_ + sizeof(length) + text.size() > out_.size()) return false;
    std::memcpy(out_.data() + used_, &length, sizeof(length));
    if (!text.empty()) std::memcpy(out_.data() + used_ + sizeof(length), text.data(), text.size());
    used_ += sizeof(length) + text.size();
    return true;
  }
  void rewind(size_t used) { used_ = used; }
  [[nodiscard]] size_t used() const { return used_; }

 private:
  std::span<std::byte> out_;
  size_t used_ = 0;
};

class StringReader {
 public:
  explicit StringReader(std::span<const std::byte> in) : in_(in) {}

  bool take(std::string& text) {
    uint16_t length = 0;
    if (in_.size() < sizeof(length)) return false;
    std::memcpy(&length, in_.data(), sizeof(length));
    if (in_.size() < sizeof(length) + length) return false;
    text.assign(reinterpret_cast<const char*>(in_.data()) + sizeof(length), length);
    in_ = in_.subspan(sizeof(length) + length);
    return true;
  }

 private:
  std::span<const std::byte> in_;
};

/// The strings in the order of the document, each with its limit.
template <typename Header, typename Visit>
bool for_each_string(Header& header, Visit visit) {
  return visit(header.job, kMaxJobBytes) && visit(header.run_id, kMaxIdBytes) &&
         visit(header.attempt_id, kMaxIdBytes) && visit(header.role, kMaxWordBytes) &&
         visit(header.host, kMaxIdBytes) && visit(header.boot_id, kMaxWordBytes) &&
         visit(header.accelerator_type, kMaxWordBytes) && visit(header.writer, kMaxWordBytes);
}
static_assert(sizeof(RawHeader) + kMaxJobBytes + 3 * kMaxIdBytes + 4 * kMaxWordBytes + 8 * sizeof(uint16_t) <=
                  kHeaderBytes,
              "every string but the labels always fits");

void put_with_checksum(RawHeader& raw, std::span<std::byte, kHeaderBytes> out) {
  std::memcpy(out.data(), &raw, sizeof(raw));
  raw.checksum = crc32c_around(out.first(raw.used_bytes), offsetof(RawHeader, checksum));
  std::memcpy(out.data(), &raw, sizeof(raw));
}

Status not_a_header(const char* why) {
  return {StatusCode::kUnreadable, std::string("reading the header of a live segment: ") + why};
}

bool is_plausible(const RawHeader& raw) {
  return raw.segment_bytes % kPageBytes == 0 && raw.definitions_bytes % kPageBytes == 0 && raw.definitions_bytes > 0 &&
         raw.segment_bytes <= kMaxReadableSegmentBytes &&
         uint64_t{raw.segment_bytes} >= 3 * uint64_t{kPageBytes} + 2 * uint64_t{raw.definitions_bytes};
}

}  // namespace

std::string_view cut_text(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end == 0 ? bytes : end);
}

size_t encode_header(const LiveHeader& header, std::span<std::byte, kHeaderBytes> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  StringWriter strings(out.subspan(sizeof(RawHeader)));
  for_each_string(header, [&](const std::string& text, size_t limit) { return strings.put(cut_text(text, limit)); });

  size_t kept = 0;
  for (const auto& [key, value] : header.labels) {
    const size_t before = strings.used();
    if (!strings.put(cut_text(key, kMaxIdBytes)) || !strings.put(cut_text(value, kMaxIdBytes))) {
      strings.rewind(before);
      break;
    }
    ++kept;
  }
  // A label that did not fit may have left its key behind.
  const auto rest = out.subspan(sizeof(RawHeader) + strings.used());
  std::fill(rest.begin(), rest.end(), std::byte{0});

  RawHeader raw{.magic = kLiveMagic,
                .version = kLiveVersion,
                .used_bytes = static_cast<uint32_t>(sizeof(RawHeader) + strings.used()),
                .journal_id = header.journal_id,
                .segment_number = header.segment_number,
                .segment_bytes = header.segment_bytes,
                .definitions_bytes = header.definitions_bytes,
                .header_flags = header.header_flags,
                .open_boot_ns = header.open_boot_ns,
                .open_wall_ns = header.open_wall_ns,
                .pid = header.pid,
                .process_index = header.process_index,
                .accelerators = header.accelerators,
                .label_count = static_cast<uint32_t>(kept),
                .checksum = 0};
  put_with_checksum(raw, out);
  return header.labels.size() - kept;
}

void set_segment(std::span<std::byte, kHeaderBytes> encoded, uint32_t segment_number, const LiveLayout& layout) {
  RawHeader raw;
  std::memcpy(&raw, encoded.data(), sizeof(raw));
  raw.segment_number = segment_number;
  raw.segment_bytes = layout.segment_bytes;
  raw.definitions_bytes = layout.definitions_bytes;
  put_with_checksum(raw, encoded);
}

void set_header_flags(std::span<std::byte, kHeaderBytes> encoded, uint32_t header_flags) {
  RawHeader raw;
  std::memcpy(&raw, encoded.data(), sizeof(raw));
  raw.header_flags = header_flags;
  put_with_checksum(raw, encoded);
}

Result<LiveHeader> decode_header(std::span<const std::byte> copy) {
  RawHeader raw;
  if (copy.size() < sizeof(raw)) return not_a_header("it is cut short");
  std::memcpy(&raw, copy.data(), sizeof(raw));
  if (raw.magic != kLiveMagic) return not_a_header("it does not begin as one");
  if (raw.used_bytes < sizeof(raw) || raw.used_bytes > kHeaderBytes || raw.used_bytes > copy.size() ||
      raw.checksum != crc32c_around(copy.first(raw.used_bytes), offsetof(RawHeader, checksum))) {
    return not_a_header("it is damaged");
  }
  if (raw.version > kLiveVersion) {
    return Status(StatusCode::kUnsupported, "reading a live segment of format version " + std::to_string(raw.version) +
                                                " with a program that knows version " + std::to_string(kLiveVersion));
  }
  if (!is_plausible(raw)) return not_a_header("its sizes make no sense");

  LiveHeader header{.journal_id = raw.journal_id,
                    .segment_number = raw.segment_number,
                    .segment_bytes = raw.segment_bytes,
                    .definitions_bytes = raw.definitions_bytes,
                    .header_flags = raw.header_flags,
                    .open_boot_ns = raw.open_boot_ns,
                    .open_wall_ns = raw.open_wall_ns,
                    .pid = raw.pid,
                    .process_index = raw.process_index,
                    .accelerators = raw.accelerators};
  StringReader strings(copy.subspan(sizeof(raw), raw.used_bytes - sizeof(raw)));
  if (!for_each_string(header, [&](std::string& text, size_t) { return strings.take(text); })) {
    return not_a_header("its strings are cut short");
  }
  for (uint32_t i = 0; i < raw.label_count; ++i) {
    std::pair<std::string, std::string> label;
    if (!strings.take(label.first) || !strings.take(label.second)) return not_a_header("its labels are cut short");
    header.labels.push_back(std::move(label));
  }
  return header;
}

Result<LiveHeader> find_header(std::span<const std::byte> segment) {
  Result<LiveHeader> first = decode_header(segment.first(std::min<size_t>(segment.size(), kHeaderBytes)));
  if (first.ok()) return first;
  for (size_t page = segment.size() / kPageBytes; page-- > 1;) {
    const auto bytes = segment.subspan(page * kPageBytes, kHeaderBytes);
    if (std::memcmp(bytes.data(), kLiveMagic.data(), kLiveMagic.size()) != 0) continue;
    Result<LiveHeader> mirror = decode_header(bytes);
    if (mirror.ok()) return mirror;
  }
  return first;
}

std::vector<LiveHeader> find_headers(std::span<const std::byte> bytes) {
  std::vector<LiveHeader> found;
  for (size_t at = 0; at + sizeof(RawHeader) <= bytes.size(); at += kPageBytes) {
    const auto page = bytes.subspan(at, std::min<size_t>(kHeaderBytes, bytes.size() - at));
    if (std::memcmp(page.data(), kLiveMagic.data(), kLiveMagic.size()) != 0) continue;
    if (Result<LiveHeader> header = decode_header(page); header.ok()) found.push_back(std::move(header).value());
  }
  return found;
}

}  // namespace goodput::journal
