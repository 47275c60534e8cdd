// An index of ranks as a JobLog uses it: in place of the journals that it stands for.
//
//   for (size_t i = 0; i < ranks.index.journals.size(); ++i) {
//     if (ranks.places[i] == IndexPlace::kStands) use(ranks.wall_ns(ranks.index.journals[i], …));
//   }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "event/event.h"
#include "journal/rank_index.h"

namespace goodput {
class Directory;
}

namespace goodput::journal {

enum class IndexPlace : uint8_t {
  kStands,   ///< the index says what its journal would
  kLeftOut,  ///< its journal is gone, or was written to since: the index says nothing
  kRead,     ///< its journal was read already; the index is for those who come later
};

struct IndexedRanks {
  /// The earliest opening on a boot.
  struct Boot {
    uint32_t boot_id = 0;
    ClockPair first;
  };

  Directory* run_folder = nullptr;
  RankIndex index;  ///< its events only until they were given
  std::vector<IndexPlace> places;
  std::vector<Boot> boots;                    ///< of those that stand
  std::vector<int64_t> wall_less_boot_ns;     ///< by place of the boot id
  std::vector<const event::Origin*> origins;  ///< by journal, where it has events that were asked for
  bool is_given = false;                      ///< to polls

  [[nodiscard]] int64_t wall_ns(const IndexedJournal& journal, int64_t boot_ns) const;
  void set_boots();
};

}  // namespace goodput::journal
