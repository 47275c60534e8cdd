// Files that a reader leaves for the next: replaced as a whole, worth nothing when damaged.
//
//   RETURN_IF_ERROR(replace_cache_file(run_folder, "ledger", bytes));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/file_system.h"

namespace goodput::journal {

/// Replaces `name`, permissions 0600. Nothing is synced: after a power cut the old or the new content is there, or
/// neither, and the content must say so itself (a checksum). Let one process write at a time.
Status replace_cache_file(Directory& directory, std::string_view name, std::span<const std::byte> bytes);

/// Where it, or base's replace_file(), writes before it gets its name.
std::string scratch_name(std::string_view name);

}  // namespace goodput::journal
