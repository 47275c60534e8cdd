// What is left of segments that somebody names: read, told, and written out whole, without touching them.
//
//   RecoveredFiles recovered;
//   RETURN_IF_ERROR(recovered.add("/var/lib/goodput/v1/…/00000003.live"));   // or a journal's folder
//   for (const RecoveredJournal& journal : recovered.journals()) …
//   RETURN_IF_ERROR(recovered.write("/tmp/saved"));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "journal/folder_names.h"
#include "journal/segment.h"

namespace goodput::cli {

struct RecoveredFile {
  std::string path;
  journal::SegmentForm form = journal::SegmentForm::kLive;
  journal::Segment segment;
};

/// The segments of one journal among those that were named.
struct RecoveredJournal {
  std::vector<RecoveredFile> files;   ///< by segment number
  journal::LiveHeader header;         ///< of the first segment that has one; without a job where none has
  std::vector<journal::Loss> losses;  ///< of all together, with what is missing between them
  uint64_t events = 0;
  uint64_t never_recorded = 0;  ///< what its recorder counted as dropped
};

class RecoveredFiles {
 public:
  /// A segment, live or sealed, or a journal's folder with all of its segments. Failures: it cannot be read, or is
  /// none.
  Status add(const std::string& path);

  /// By the paths that were added.
  [[nodiscard]] std::vector<RecoveredJournal> journals() const;

  /// Writes what is intact as sealed segments under `folder`, where a report finds it (--dir). kAlreadyExists: it has
  /// segments of that journal already, and nothing was written.
  Status write(const std::string& folder) const;

 private:
  Status add_folder(const std::string& path);
  Status add_file(const std::string& path);

  std::vector<RecoveredFile> files_;
};

}  // namespace goodput::cli
