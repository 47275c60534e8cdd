// The names of a journal's folders: <root>/v1/<hash of job>/<hash of run>/<journal id>.
//
// Names of jobs hold any characters and never become paths; the header inside a journal decides whose it is.
//
//   const std::string job_folder = hash_name(header.job);        // 32 hex digits
//   const std::string own_folder = id_name(header.journal_id);
//   const std::string file = segment_name(3, SegmentForm::kSealed);
//
// Pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goodput::journal {

/// The folder of this layout under a root; another layout would get another.
constexpr const char* kLayoutFolder = "v1";
/// In a run's folder, what readers keep there for those who come later.
constexpr const char* kKeptFolder = "kept";
/// There, from when on events are still on disk.
constexpr const char* kDroppedFile = "dropped";
/// Held with an fcntl lock by the process that writes.
constexpr const char* kLockFile = "lock";

/// XXH3-128 of the text (cut as in headers), in hex.
std::string hash_name(std::string_view text);
std::string id_name(const std::array<uint8_t, 16>& journal_id);
/// The id that a folder is named by; nothing when it is no journal's.
std::optional<std::array<uint8_t, 16>> parse_id_name(std::string_view name);

/// Which of its two forms a segment's file has.
enum class SegmentForm : uint8_t { kLive, kSealed };

/// "00000012.live", "00000012.sealed".
std::string segment_name(uint32_t number, SegmentForm form);
/// Where a segment is written before it gets its name.
std::string sealing_name(uint32_t number);

struct SegmentFileName {
  uint32_t number = 0;
  SegmentForm form = SegmentForm::kLive;
};
/// Nothing for files of other names.
std::optional<SegmentFileName> parse_segment_name(std::string_view name);

}  // namespace goodput::journal
