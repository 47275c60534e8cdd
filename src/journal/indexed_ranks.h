// An index of ranks as a JobLog uses it: in place of the journals that it stands for.
//
// Of one that was given to polls earlier (a cursor says so) only a few words are known until more is asked: load() it.
//
//   if (log.load(ranks)) {
//     for (size_t i = 0; i < ranks.places.size(); ++i) {
//       if (ranks.places[i] == IndexPlace::kStands) use(ranks.wall_ns(ranks.index.journals[i], …));
//     }
//   }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
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
  Directory* run_folder = nullptr;
  JournalId rank_zero{};
  bool is_given = false;  ///< to polls
  size_t count = 0;       ///< journals in it when it was looked at; what was added since is not taken from it
  uint32_t checksum = 0;  ///< of its facts then
  uint32_t ids_checksum = 0;
  uint64_t bytes = 0;              ///< of the files of its journals
  std::vector<uint32_t> left_out;  ///< places that are; while it is not loaded
  /// What those that are not left out have to tell, and when their events are.
  struct Trouble {
    bool is_read = false;  ///< its journal tells it, too
    int64_t opened_ns = 0;
    CounterValues counters;
    std::vector<Loss> losses;
  };
  std::vector<Trouble> troubles;
  int64_t first_event_ns = std::numeric_limits<int64_t>::max();
  int64_t last_event_ns = std::numeric_limits<int64_t>::min();

  bool is_loaded = false;
  RankIndex index;  ///< its events only until they were given
  std::vector<IndexPlace> places;
  /// The earliest opening on a boot.
  struct Boot {
    uint32_t boot_id = 0;
    ClockPair first;
  };
  std::vector<Boot> boots;                    ///< of those that are not left out
  std::vector<int64_t> wall_less_boot_ns;     ///< by place of the boot id
  std::vector<const event::Origin*> origins;  ///< by journal, where it has events that were asked for

  [[nodiscard]] int64_t wall_ns(const IndexedJournal& journal, int64_t boot_ns) const;
  /// Whether events of a journal that stands may lie in [from_ns, to_ns).
  [[nodiscard]] bool overlaps(int64_t from_ns, int64_t to_ns) const {
    return first_event_ns < to_ns && last_event_ns >= from_ns;
  }
  void set_boots();
  /// Once clocks are known: sets all that stands before is_loaded.
  void summarize(uint32_t facts_checksum);
};

/// Of the ids of the first `count` journals.
uint32_t checksum_of_ids(const RankIndex& index, size_t count);

}  // namespace goodput::journal
