// What an ImportedLog holds, filled by the Importer. Private to this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "importers/event_store.h"
#include "importers/imported_log.h"
#include "importers/origin_table.h"

namespace goodput::importers {

struct ImportedLog::State {
  State(size_t memory_bytes, std::string directory) : spool{memory_bytes, std::move(directory)} {}

  std::string job;
  Spool spool;
  OriginTable origins;
  std::unique_ptr<EventStore> log;      // in the order of positions
  std::unique_ptr<EventStore> by_time;  // null: `log` is in this order too
  uint64_t untimed = 0;
  bool has_sequences = false;
  std::vector<ImportLoss> losses;
  Block block;                         // for reading
  std::vector<event::Event> selected;  // of a block, when not all of it is asked for
};

}  // namespace goodput::importers
