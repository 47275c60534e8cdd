// SPDX-License-Identifier: Apache-2.0
#include "store/gcs/journal_objects.h"

#include <algorithm>

#include "journal/recover.h"
#include "journal/sealed_pages.h"

namespace goodput::store {

std::string job_prefix(std::string_view job) {
  return std::string(journal::kLayoutFolder) + "/" + journal::hash_name(job) + "/";
}

std::string journal_prefix(const journal::RunName& run, const std::array<uint8_t, 16>& journal_id) {
  return job_prefix(run.job) + journal::hash_name(run.run_id) + "/" + journal::id_name(journal_id) + "/";
}

std::optional<SegmentObject> parse_object_name(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  SegmentObject object{
      .folder = std::string(name.substr(0, slash)), .file = std::string(name.substr(slash + 1)), .segment = {}};
  const auto segment = journal::parse_segment_name(object.file);
  if (!segment) return std::nullopt;
  object.segment = *segment;
  std::string_view rest = object.folder;
  const auto next = [&rest] {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
  };
  if (next() != journal::kLayoutFolder) return std::nullopt;
  // Hashes have the form of ids.
  for (int level = 0; level < 3; ++level) {
    if (!journal::parse_id_name(next())) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  return object;
}

size_t event_count(std::span<const std::byte> segment, journal::SegmentForm form) {
  if (form == journal::SegmentForm::kSealed) {
    const auto header = journal::read_sealed_header(segment);
    return header.ok() ? header->sizes.events : 0;
  }
  const auto read = journal::recover_live(segment, std::nullopt);
  return read.ok() ? read->events.size() : 0;
}

}  // namespace goodput::store
