// Events of one journal as they are stored, from its end: for what few of them are wanted for.
//
//   read_backwards(run_folder, journal, kinds, decompressor, [&](const StoredPart& part) { …; return goes_on; });
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/file_system.h"
#include "base/function_ref.h"
#include "journal/journal_file.h"

namespace goodput::journal {

/// A block of a sealed segment, or all of a live one; valid during the call that hands it over.
struct StoredPart {
  uint32_t segment = 0;
  std::span<const StoredEvent> events;  ///< by slot; of the wanted kinds
  const NameTable& names;
};

/// Hands over the segments that `journal` knows, last blocks first, until `visit` returns false. `kinds`: bit k for
/// kind k. What cannot be read is missing. One thread.
void read_backwards(Directory& run_folder, const JournalFile& journal, uint64_t kinds, Decompressor& decompressor,
                    FunctionRef<bool(const StoredPart&)> visit);

}  // namespace goodput::journal
