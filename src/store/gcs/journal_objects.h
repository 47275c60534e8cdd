// How the files of journals are named as objects: as they are named under a root, so that a folder that mirrors the
// bucket's is a root itself.
//
//   journal_prefix(run, id)                    // "v1/<hash of job>/<hash of run>/<journal id>/"
//   parse_object_name("v1/…/00000001.live")    // nothing for what is no segment
//
// Pure but for event_count(), which decodes. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "journal/folder_names.h"
#include "journal/run_folder.h"

namespace goodput::store {

std::string job_prefix(std::string_view job);
std::string journal_prefix(const journal::RunName& run, const std::array<uint8_t, 16>& journal_id);

struct SegmentObject {
  std::string folder;  ///< of its journal, under a root
  std::string file;
  journal::SegmentFileName segment;
};
/// Nothing that this gives leads out of a root.
std::optional<SegmentObject> parse_object_name(std::string_view name);

/// How many events a segment's bytes hold; 0 for what is none.
size_t event_count(std::span<const std::byte> segment, journal::SegmentForm form);

}  // namespace goodput::store
