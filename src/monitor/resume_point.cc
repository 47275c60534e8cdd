// SPDX-License-Identifier: Apache-2.0
#include "monitor/resume_point.h"

#include <array>
#include <cstring>

#include "base/checksum.h"
#include "journal/cache_file.h"
#include "journal/fields.h"

namespace goodput::monitor {
namespace {

constexpr std::array<char, 8> kMagic = {'G', 'O', 'O', 'D', 'P', 'U', 'T', 'A'};
constexpr uint32_t kVersion = 1;
// A ledger keeps within a megabyte, a cursor takes 20 bytes a segment.
constexpr uint64_t kMostBytes = 256 << 20;

struct RawHead {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t checksum;  // of all bytes of the file with this field zero
};
static_assert(sizeof(RawHead) == 16);

/// A copy of a folder, or another root, has other inodes: a cursor refers to folders by their order.
std::vector<std::byte> identity_of(const journal::JobLog& log) {
  journal::FieldWriter out;
  for (Directory* folder : log.run_folders()) {
    const Result<FileFacts> facts = folder->facts();
    out.number(facts.ok() ? facts->device : 0);
    out.number(facts.ok() ? facts->inode : 0);
  }
  return out.take();
}

}  // namespace

std::vector<std::byte> encode_resume_point(const ResumePoint& point, std::span<const std::byte> folders) {
  journal::FieldWriter out;
  out.block(std::array<std::byte, sizeof(RawHead)>{});
  out.number(folders.size());
  out.block(folders);
  out.number(point.cursor.size());
  out.block(point.cursor);
  out.text(point.ledger);
  std::vector<std::byte> bytes = out.take();
  RawHead head{.magic = kMagic, .version = kVersion, .checksum = 0};
  std::memcpy(bytes.data(), &head, sizeof(head));
  head.checksum = crc32c_around(bytes, offsetof(RawHead, checksum));
  std::memcpy(bytes.data(), &head, sizeof(head));
  return bytes;
}

std::optional<ResumePoint> decode_resume_point(std::span<const std::byte> bytes, std::span<const std::byte> folders) {
  RawHead head;
  if (bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.magic != kMagic || head.version != kVersion) return std::nullopt;
  if (head.checksum != crc32c_around(bytes, offsetof(RawHead, checksum))) return std::nullopt;
  journal::FieldReader in(bytes.subspan(sizeof(head)));
  const auto of_folders = in.block(in.number(in.left()));
  const auto cursor = in.block(in.number(in.left()));
  ResumePoint point{.cursor = {cursor.begin(), cursor.end()}, .ledger = in.text()};
  const bool is_ours = in.ok() && in.left() == 0 && of_folders.size() == folders.size() &&
                       std::equal(folders.begin(), folders.end(), of_folders.begin());
  return is_ours ? std::optional(std::move(point)) : std::nullopt;
}

std::optional<ResumePoint> read_resume_point(const journal::JobLog& log) {
  const std::vector<std::byte> identity = identity_of(log);
  for (Directory* folder : log.run_folders()) {
    Directory* kept = log.kept_of(*folder);
    if (kept == nullptr) continue;
    const auto bytes = read_whole_file(*kept, kResumePointFile, kMostBytes);
    if (!bytes.ok()) continue;
    if (std::optional<ResumePoint> point = decode_resume_point(*bytes, identity)) return point;
  }
  return std::nullopt;
}

Status write_resume_point(const journal::JobLog& log, Directory& kept, const ResumePoint& point,
                          Durability durability) {
  const std::vector<std::byte> bytes = encode_resume_point(point, identity_of(log));
  if (durability == Durability::kCache) return journal::replace_cache_file(kept, kResumePointFile, bytes);
  return replace_file(kept, kResumePointFile, journal::scratch_name(kResumePointFile), bytes);
}

}  // namespace goodput::monitor
