// Who recorded an imported event, as a text among a segment's names, and read back as an event::Origin.
//
//   const std::string text = origin_text(*event.origin);            // kept under an id of its own
//   ImportedOrigins origins;
//   made.origin = origins.at(names, live.imported.origin);          // one object for all with this text
//
// One thread. Origins are valid as long as the object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "event/event.h"
#include "journal/name_table.h"

namespace goodput::journal {

/// Attempt id, run id, role, host and boot id, each its length (varint) and bytes; process index and process id (zigzag
/// varints). Longer strings than a header could hold are cut when the whole would be too long for a name.
std::string origin_text(const event::Origin& origin);

class ImportedOrigins {
 public:
  /// Null for kNoName, and for a text that is none (it is lost).
  const event::Origin* at(const NameTable& names, uint16_t id);

 private:
  struct Held {
    std::string text;
    event::Origin origin;
    bool is_valid = false;
  };

  std::deque<Held> held_;  // never moves what it holds
  std::map<std::string_view, const Held*> by_text_;
  const Held* latest_ = nullptr;
};

}  // namespace goodput::journal
