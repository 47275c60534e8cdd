// SPDX-License-Identifier: Apache-2.0
#include "journal/read_segments.h"

#include <algorithm>
#include <map>

#include "journal/recover.h"
#include "journal/sealed_format.h"

namespace goodput::journal {

Result<std::vector<SegmentFileName>> list_segments(Directory& journal_folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, journal_folder.list());
  std::map<uint32_t, SegmentForm> forms;
  for (const std::string& name : names) {
    const std::optional<SegmentFileName> parsed = parse_segment_name(name);
    if (!parsed) continue;
    const auto [known, is_new] = forms.emplace(parsed->number, parsed->form);
    if (!is_new) known->second = SegmentForm::kLive;
  }
  std::vector<SegmentFileName> files;
  for (const auto& [number, form] : forms) files.push_back({number, form});
  return files;
}

Result<std::optional<Segment>> read_segment(Directory& journal_folder, const JournalId& id,
                                            const SegmentFileName& file) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                   read_whole_file(journal_folder, segment_name(file.number, file.form), kMaxSealedBytes));
  const bool is_blank = std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  if (is_blank) return std::optional<Segment>();
  ASSIGN_OR_RETURN(Segment segment, recover_segment(bytes, SegmentHint{id, file.number}));
  return std::optional<Segment>(std::move(segment));
}

}  // namespace goodput::journal
