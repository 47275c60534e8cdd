// Whether what is recorded here has a place to go to.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "doctor/checks.h"

namespace goodput::doctor {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kGibibyte = uint64_t{1} << 30;
// A trainer writes 3 bytes an event, and a thousand ranks begin with 64 KiB each: below 64 MiB that does not fit, and
// 1 GiB is some weeks of it.
constexpr uint64_t kFreeAtLeast = 64 * kMebibyte;
constexpr uint64_t kFreeInComfort = kGibibyte;
constexpr uint64_t kFilesAtLeast = 1000;
constexpr double kNearBudget = 0.9;

std::string human_bytes(uint64_t bytes) {
  if (bytes >= kGibibyte) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGibibyte);
  if (bytes >= kMebibyte) return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / kMebibyte);
  return fmt::format("{} KiB", bytes / 1024);
}

}  // namespace

Opinion check_folder(const Facts& facts) {
  const FolderFacts& folder = facts.folder;
  if (!folder.obstacle.empty()) {
    return {Verdict::kRed, fmt::format("Nothing can be recorded in {}: {}.", folder.path, folder.obstacle),
            folder.is_named ? "Make that folder yours and writable, or name another with --dir or GOODPUT_DIR."
                            : "Name a folder that is yours and writable with --dir or GOODPUT_DIR."};
  }
  return {.seen = fmt::format("{} {}.", folder.path, folder.is_there ? "is there and writable" : "can be made")};
}

Opinion check_disk(const Facts& facts) {
  const FolderFacts& folder = facts.folder;
  if (folder.free_bytes < kFreeAtLeast || folder.free_files.value_or(kFilesAtLeast) < kFilesAtLeast) {
    return {Verdict::kRed,
            fmt::format("{} and {} files are left where journals are written: events will be dropped.",
                        human_bytes(folder.free_bytes),
                        folder.free_files ? fmt::format("{}", *folder.free_files) : "any number of"),
            "Make room, or record somewhere else (GOODPUT_DIR)."};
  }
  const uint64_t taken = facts.job ? facts.job->journal_bytes : 0;
  if (folder.budget_bytes > 0 && static_cast<double>(taken) >= kNearBudget * static_cast<double>(folder.budget_bytes)) {
    return {Verdict::kYellow,
            fmt::format("The run's journals take {} of a budget of {}: the oldest events are dropped, and windows that "
                        "begin there become coarse.",
                        human_bytes(taken), human_bytes(folder.budget_bytes)),
            "Raise GOODPUT_DISK_BUDGET if old windows matter; totals stay as they are."};
  }
  if (folder.free_bytes < kFreeInComfort) {
    return {Verdict::kYellow, fmt::format("{} are left where journals are written.", human_bytes(folder.free_bytes)),
            "Make room, or record somewhere else (GOODPUT_DIR)."};
  }
  return {.seen = fmt::format("{} free; a run may take {}.", human_bytes(folder.free_bytes),
                              folder.budget_bytes > 0 ? human_bytes(folder.budget_bytes) : "any amount")};
}

Opinion check_file_system(const Facts& facts) {
  const FolderFacts& folder = facts.folder;
  if (folder.maps_in_place) {
    return {.seen = fmt::format("{}: recorded in place, safe from the moment a call returns.", folder.kind)};
  }
  if (!folder.staging.empty()) {
    return {Verdict::kYellow,
            fmt::format("{}: journals are staged in {} and copied once a second; readers on other machines lag by "
                        "that, and call a job dead after 180 s.",
                        folder.kind, folder.staging),
            "Nothing is lost by it unless the machine dies; a local disk (ext4, XFS) is recorded to in place."};
  }
  return {Verdict::kRed,
          fmt::format("{}: a journal cannot be mapped here, and no place to stage it was found.", folder.kind),
          "Name one on a local file system with GOODPUT_STAGING_DIR."};
}

}  // namespace goodput::doctor
