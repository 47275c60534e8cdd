// Who wrote a live segment: its header, which stands twice in the file.
//
// Use encode_header() when a segment is made and find_header() on the bytes of one that is read: either copy will do.
//
//   const Result<LiveHeader> header = find_header(bytes);       // kUnsupported: a newer version; both are named
//   const LiveLayout layout = header->layout();
//   const uint32_t seed = header->seed();
//   std::string_view job = header->job;
//
// Values; the strings are the header's own. Nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "journal/format.h"

namespace goodput::journal {

/// Longest strings of a header, in bytes; longer ones are cut at a character. Job and run name the same job cut or not:
/// whoever looks one up cuts what it was asked for (cut_text) first.
constexpr size_t kMaxJobBytes = 1024;
constexpr size_t kMaxIdBytes = 256;   ///< run id, attempt id, host
constexpr size_t kMaxWordBytes = 64;  ///< role, accelerator type, boot id, writer

struct LiveHeader {
  std::array<uint8_t, 16> journal_id{};
  uint32_t segment_number = 1;
  uint32_t segment_bytes = kMinSegmentBytes;
  uint32_t definitions_bytes = live_layout(kMinSegmentBytes).definitions_bytes;
  uint32_t header_flags = 0;
  int64_t open_boot_ns = 0;  ///< both clocks when the journal was opened
  int64_t open_wall_ns = 0;
  int64_t pid = 0;
  int64_t process_index = 0;
  int64_t accelerators = -1;  ///< of the whole job; -1: unknown

  std::string job{};
  std::string run_id{};
  std::string attempt_id{};  ///< empty: the reader finds the attempt (ARCHITECTURE, Identity)
  std::string role{};        ///< empty: a trainer; else launcher, monitor, …
  std::string host{};
  std::string boot_id{};
  std::string accelerator_type{};
  std::string writer{};  ///< program and version, for people
  std::vector<std::pair<std::string, std::string>> labels{};

  [[nodiscard]] LiveLayout layout() const { return live_layout(segment_bytes, definitions_bytes); }
  [[nodiscard]] uint32_t seed() const { return goodput::journal::segment_seed(journal_id, segment_number); }
  friend bool operator==(const LiveHeader&, const LiveHeader&) = default;
};

/// A log that somebody else wrote (import_log.h), not a process of ours.
inline bool is_imported(const LiveHeader& header) { return (header.header_flags & kImportedFlag) != 0; }

/// The process that is its job's clock; of an attempt, if it is no launcher's or monitor's.
inline bool is_rank_zero(const LiveHeader& header) { return header.role.empty() && header.process_index == 0; }

/// `text`, or its longest head of whole UTF-8 characters that fits `bytes`.
std::string_view cut_text(std::string_view text, size_t bytes);

/// Writes both fixed part and strings, zeroes the rest. Returns how many labels did not fit and were left out.
size_t encode_header(const LiveHeader& header, std::span<std::byte, kHeaderBytes> out);

/// Makes encoded header bytes those of another segment of the same journal. No allocation.
void set_segment(std::span<std::byte, kHeaderBytes> encoded, uint32_t segment_number, const LiveLayout& layout);

/// Sets RawHeader::header_flags of encoded header bytes.
void set_header_flags(std::span<std::byte, kHeaderBytes> encoded, uint32_t header_flags);

/// One copy. kUnreadable: not a header, or damaged. kUnsupported: of a newer version.
Result<LiveHeader> decode_header(std::span<const std::byte> copy);

/// The header of a segment from all of its bytes, of any length: the first page, else the last page that holds one.
Result<LiveHeader> find_header(std::span<const std::byte> segment);

/// Every header in these bytes, wherever a page begins with one: two of the same segment, or those of several that were
/// mixed up.
std::vector<LiveHeader> find_headers(std::span<const std::byte> bytes);

}  // namespace goodput::journal
