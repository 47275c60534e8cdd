// What the dead ranks of a launch left behind, in one file: a reader opens it instead of a thousand journals.
//
// One index stands for the ended journals of other ranks that belong to one rank-0 journal. It is a cache: whoever
// finds none, or one that is damaged, reads the journals and knows the same.
//
//   ASSIGN_OR_RETURN(const RankIndex index, decode_index(bytes));          // or decode_index_facts(): without events
//   for (const IndexedJournal& journal : index.journals) use(index.strings[journal.host]);
//
// docs/formats/journal.md gives the bytes. Values and pure functions. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "journal/sealed_index.h"
#include "journal/segment.h"

namespace goodput::journal {

using JournalId = std::array<uint8_t, 16>;

/// Indexes for more are not written; 64 MiB of checkpoint statistics are not either.
constexpr size_t kMostIndexed = 1 << 20;
constexpr uint64_t kMaxIndexBytes = 64 << 20;

struct IndexedJournal {
  JournalId id{};
  int64_t process_index = 0;
  int64_t pid = 0;
  ClockPair open;
  int64_t pulse_boot_ns = 0;  ///< of its last clock pair
  int64_t last_event_boot_ns = 0;
  int64_t folder_modified_ns = 0;                  ///< of its folder when it was read
  uint32_t attempt_id = 0, host = 0, boot_id = 0;  ///< places in RankIndex::strings
  std::optional<int64_t> late_p90_ns, late_p99_ns;
  bool is_dropped = false;  ///< its files are gone (disk budget): this is all that there is of it
  uint64_t bytes = 0;       ///< of its files
  uint32_t events = 0;      ///< that it gives to a ledger: checkpoint statistics
  TimeBounds times;         ///< of these
  friend bool operator==(const IndexedJournal& a, const IndexedJournal& b);
};

/// What few journals have to tell: events that were dropped or are damaged.
struct IndexedTrouble {
  uint32_t journal = 0;
  CounterValues counters;
  std::vector<Loss> losses;
};

/// Of the journal whose turn it is by IndexedJournal::events; names are places in RankIndex::strings.
struct IndexedEvent {
  StoredEvent stored;
  uint32_t segment = 0;
};

struct RankIndex {
  std::string job{}, run_id{};
  JournalId rank_zero{};               ///< to whose steps lateness refers
  std::vector<std::string> strings{};  ///< [0] is empty
  std::vector<IndexedJournal> journals{};
  std::vector<IndexedTrouble> troubles{};
  std::vector<IndexedEvent> events{};

  /// The place of a text, added where it is new; nothing when there is no room for more.
  std::optional<uint32_t> place_of(std::string_view text);
};

std::vector<std::byte> encode_index(const RankIndex& index);
/// kUnreadable: damaged. kUnsupported: of a newer version.
Result<RankIndex> decode_index(std::span<const std::byte> bytes);
/// All but the events, which may be damaged.
Result<RankIndex> decode_index_facts(std::span<const std::byte> bytes);

/// The checksum of an index's facts, where both facts and events are what was written; they are not looked into.
std::optional<uint32_t> checksum_of_index(std::span<const std::byte> bytes);

/// "<id of rank 0's journal>.ranks", in the folder of what readers keep.
std::string index_name(const JournalId& rank_zero);
/// The id; nothing for files of other names.
std::optional<JournalId> parse_index_name(std::string_view name);

}  // namespace goodput::journal
