// Where a reader of a job stopped, for the next to go on from: the cursor of its log and the account so far, in one
// file of the run's folder. A report of a long job then costs what is new.
//
//   if (std::optional<ResumePoint> point = read_resume_point(log)) …
//   (void)write_resume_point(log, kept, {.cursor = log.cursor(), .ledger = ledger.snapshot()}, Durability::kCache);
//
// The file is checked as a whole: what is damaged, of another version or of other folders is as if it were not there.
// docs/formats/journal.md gives its bytes. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "journal/job_log.h"

namespace goodput::monitor {

struct ResumePoint {
  std::vector<std::byte> cursor;
  std::string ledger;
};

/// Name of the file, in the folder of what readers keep.
constexpr const char* kResumePointFile = "account";

/// Nothing: there is none that holds for these folders.
std::optional<ResumePoint> read_resume_point(const journal::JobLog& log);

enum class Durability : uint8_t {
  kCache,    ///< may be lost with the machine's power: journals say the same
  kDurable,  ///< synced before this returns: what it stands for may be dropped
};
Status write_resume_point(const journal::JobLog& log, Directory& kept, const ResumePoint& point, Durability durability);

/// The bytes of the file and back; `folders` says of which it holds. Pure.
std::vector<std::byte> encode_resume_point(const ResumePoint& point, std::span<const std::byte> folders);
std::optional<ResumePoint> decode_resume_point(std::span<const std::byte> bytes, std::span<const std::byte> folders);

}  // namespace goodput::monitor
