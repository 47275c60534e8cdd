// The segments that lie in a journal's folder, recovered one by one: for whoever writes a journal anew.
//
//   ASSIGN_OR_RETURN(const std::vector<SegmentFileName> files, list_segments(*folder));
//   for (const SegmentFileName& file : files) {
//     ASSIGN_OR_RETURN(const std::optional<Segment> segment, read_segment(*folder, id, file));
//   }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/file_system.h"
#include "journal/folder_names.h"
#include "journal/run_folder.h"
#include "journal/segment.h"

namespace goodput::journal {

/// By number; of a segment that is there in both forms, the live one, which holds at least what the sealed one does.
Result<std::vector<SegmentFileName>> list_segments(Directory& journal_folder);

/// Nothing where the file is zero all over. Fails where it cannot be read, or holds nothing that could be recovered.
Result<std::optional<Segment>> read_segment(Directory& journal_folder, const JournalId& id,
                                            const SegmentFileName& file);

}  // namespace goodput::journal
