// What a JobLog does with indexes of ranks: takes them in place of the journals that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "base/checksum.h"
#include "journal/folder_names.h"
#include "journal/job_log.h"
#include "journal/predictors.h"
#include "journal/run_folder.h"

namespace goodput::journal {
int64_t IndexedRanks::wall_ns(const IndexedJournal& journal, int64_t boot_ns) const {
  // Without a boot id nothing says whose boot times compare.
  const bool has_boot_id = journal.boot_id != 0;
  return wrapping_add(boot_ns, has_boot_id ? wall_less_boot_ns[journal.boot_id]
                                           : wrapping_subtract(journal.open.wall_ns, journal.open.boot_ns));
}

void IndexedRanks::set_boots() {
  boots.clear();
  wall_less_boot_ns.assign(index.strings.size(), 0);
  origins.assign(index.journals.size(), nullptr);
  std::vector<size_t> place(index.strings.size());  // in boots, from 1
  for (size_t i = 0; i < index.journals.size(); ++i) {
    const IndexedJournal& journal = index.journals[i];
    if (places[i] == IndexPlace::kLeftOut || journal.boot_id == 0) continue;
    if (place[journal.boot_id] == 0) {
      boots.push_back({journal.boot_id, journal.open});
      place[journal.boot_id] = boots.size();
    }
    Boot& boot = boots[place[journal.boot_id] - 1];
    if (journal.open.boot_ns < boot.first.boot_ns) boot.first = journal.open;
  }
}

void IndexedRanks::summarize(uint32_t facts_checksum) {
  count = index.journals.size();
  checksum = facts_checksum;
  ids_checksum = checksum_of_ids(index, count);
  troubles.clear();
  bytes = 0;
  first_event_ns = std::numeric_limits<int64_t>::max();
  last_event_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < count; ++i) {
    if (places[i] == IndexPlace::kLeftOut) continue;
    if (!index.journals[i].is_dropped) bytes += index.journals[i].bytes;
    const TimeBounds& times = index.journals[i].times;
    const auto add = [&](int64_t first_ns, int64_t last_ns) {
      first_event_ns = std::min(first_event_ns, first_ns);
      last_event_ns = std::max(last_event_ns, last_ns);
    };
    if (times.has_wall()) add(times.first_wall_ns, times.last_wall_ns);
    if (times.has_boot()) {
      add(wall_ns(index.journals[i], times.first_boot_ns), wall_ns(index.journals[i], times.last_boot_ns));
    }
  }
  for (const IndexedTrouble& trouble : index.troubles) {
    const IndexPlace place = places[trouble.journal];
    if (place == IndexPlace::kLeftOut) continue;
    const IndexedJournal& journal = index.journals[trouble.journal];
    troubles.push_back(
        {place == IndexPlace::kRead, wall_ns(journal, journal.open.boot_ns), trouble.counters, trouble.losses});
  }
}

uint32_t checksum_of_ids(const RankIndex& index, size_t count) {
  uint32_t checksum = 0;
  for (size_t i = 0; i < count; ++i) checksum = crc32c(std::as_bytes(std::span(index.journals[i].id)), checksum);
  return checksum;
}

std::vector<Directory*> JobLog::run_folders() const {
  std::vector<Directory*> folders;
  for (const RunFolder& folder : folders_) folders.push_back(folder.directory.get());
  return folders;
}

JobLog::RunFolder& JobLog::folder_of(const Directory& run_folder) {
  return *std::find_if(folders_.begin(), folders_.end(),
                       [&](const RunFolder& candidate) { return candidate.directory.get() == &run_folder; });
}

Directory* JobLog::kept_of(const Directory& run_folder) const {
  const auto folder = std::find_if(folders_.begin(), folders_.end(), [&](const RunFolder& candidate) {
    return candidate.directory.get() == &run_folder;
  });
  return folder->kept.get();
}

Result<Directory*> JobLog::make_kept(const Directory& run_folder) {
  RunFolder& folder = folder_of(run_folder);
  if (folder.kept == nullptr) {
    ASSIGN_OR_RETURN(folder.kept, open_or_make_directory(*folder.directory, kKeptFolder));
  }
  return folder.kept.get();
}

bool JobLog::load(IndexedRanks& ranks) {
  if (ranks.is_loaded) return true;
  const auto bytes = read_whole_file(*kept_of(*ranks.run_folder), index_name(ranks.rank_zero), kMaxIndexBytes);
  if (!bytes.ok()) return false;
  Result<RankIndex> index = decode_index_facts(*bytes);
  // Others may have added journals to it.
  if (!index.ok() || index->job != job_ || index->run_id != run_id_ || index->rank_zero != ranks.rank_zero ||
      index->journals.size() < ranks.count || checksum_of_ids(*index, ranks.count) != ranks.ids_checksum) {
    return false;
  }
  ranks.index = std::move(index).value();
  ranks.places.assign(ranks.index.journals.size(), IndexPlace::kLeftOut);
  std::fill_n(ranks.places.begin(), ranks.count, IndexPlace::kStands);
  for (const uint32_t place : ranks.left_out) ranks.places[place] = IndexPlace::kLeftOut;
  ranks.set_boots();
  ranks.is_loaded = true;
  set_clocks(ranks);
  return true;
}

void JobLog::set_clocks(IndexedRanks& ranks) {
  for (const IndexedRanks::Boot& boot : ranks.boots) {
    const ClockPair& pair = clocks_[ranks.index.strings[boot.boot_id]].pair;
    ranks.wall_less_boot_ns[boot.boot_id] = wrapping_subtract(pair.wall_ns, pair.boot_ns);
  }
}

/// Takes an index in place of journals of which none is known yet.
void JobLog::add_index(RunFolder& folder, const JournalId& rank_zero, std::span<const JournalId> listed,
                       std::span<const JournalId> known) {
  const auto bytes = read_whole_file(*folder.kept, index_name(rank_zero), kMaxIndexBytes);
  if (!bytes.ok()) return;
  Result<RankIndex> index = decode_index(*bytes);
  if (!index.ok() || index->job != job_ || index->run_id != run_id_ || index->rank_zero != rank_zero) return;
  auto ranks = std::make_unique<IndexedRanks>();
  ranks->run_folder = folder.directory.get();
  ranks->rank_zero = rank_zero;
  ranks->checksum = checksum_of_index(*bytes).value_or(0);
  ranks->is_loaded = true;
  ranks->index = std::move(index).value();
  for (const IndexedJournal& journal : ranks->index.journals) {
    if (std::binary_search(known.begin(), known.end(), journal.id)) return;
    bool stands = journal.is_dropped || std::binary_search(listed.begin(), listed.end(), journal.id);
    // A process of this boot may have been stopped only, and have written since.
    if (stands && !journal.is_dropped && ranks->index.strings[journal.boot_id] == boot_id_) {
      const Result<FileFacts> facts = folder.directory->facts(id_name(journal.id));
      stands = facts.ok() && facts->modified_ns == journal.folder_modified_ns;
    }
    ranks->places.push_back(stands ? IndexPlace::kStands : IndexPlace::kLeftOut);
  }
  ranks->set_boots();
  indexes_.push_back(std::move(ranks));
}

/// Whether its journals are given the launch that they had when it was written.
bool JobLog::fits(const IndexedRanks& ranks) const {
  struct Starts {
    int64_t first_ns, last_ns;
  };
  const auto opens = [&](std::string_view attempt_id, int64_t start_ns) {
    const std::optional<size_t> attempt = attempt_of_rank(attempts_, attempt_id, start_ns);
    return attempt && openers_[*attempt]->file->id() == ranks.rank_zero;
  };
  std::map<uint32_t, Starts> starts;  // by attempt id
  for (size_t i = 0; i < ranks.places.size(); ++i) {
    const IndexedJournal& journal = ranks.index.journals[i];
    if (ranks.places[i] != IndexPlace::kStands || journal.is_dropped) continue;
    const int64_t start_ns = ranks.wall_ns(journal, journal.open.boot_ns);
    // Those without an id belong to whoever was alive: each by itself.
    if (journal.attempt_id == 0 && !opens("", start_ns)) return false;
    Starts& bounds = starts.try_emplace(journal.attempt_id, start_ns, start_ns).first->second;
    bounds.first_ns = std::min(bounds.first_ns, start_ns);
    bounds.last_ns = std::max(bounds.last_ns, start_ns);
  }
  return std::all_of(starts.begin(), starts.end(), [&](const auto& of_id) {
    const std::string& id = ranks.index.strings[of_id.first];
    const auto& [first_ns, last_ns] = of_id.second;
    if (id.empty()) return true;
    // The later they start the later their attempt: where first and last agree, so do those between.
    return opens(id, first_ns) && attempt_of_rank(attempts_, id, first_ns) == attempt_of_rank(attempts_, id, last_ns);
  });
}

/// Reads the journals of indexes that do not fit. False: all fit.
bool JobLog::replace_misfits(const ClockPair& now, std::vector<std::vector<FreshPart>>& fresh) {
  bool any = false;
  for (const auto& ranks : indexes_) {
    if (ranks->is_given || fits(*ranks)) continue;
    any = true;
    for (size_t i = 0; i < ranks->places.size(); ++i) {
      if (ranks->places[i] != IndexPlace::kStands || ranks->index.journals[i].is_dropped) continue;
      ranks->places[i] = IndexPlace::kLeftOut;
      Member& member = add_member(ranks->index.journals[i].id, folder_of(*ranks->run_folder));
      (void)member.file->refresh(*member.run_folder, observer_of(member, now), decompressor_, fresh.emplace_back());
    }
    ranks->set_boots();
  }
  return any;
}

void JobLog::give_indexed(EventStream& stream, Batches& batches) {
  for (const auto& ranks : indexes_) {
    if (ranks->is_given) continue;
    ranks->is_given = true;
    ranks->summarize(ranks->checksum);
    for (const IndexedRanks::Boot& boot : ranks->boots) clocks_[ranks->index.strings[boot.boot_id]].is_fixed = true;
    const std::vector<IndexedEvent> events = std::exchange(ranks->index.events, {});
    add_events(*ranks, events, stream, batches);
  }
}

void JobLog::read_indexed(int64_t from_ns, int64_t to_ns, EventStream& stream, Batches& batches) {
  for (const auto& ranks : indexes_) {
    if (!ranks->is_given || !ranks->overlaps(from_ns, to_ns) || !load(*ranks)) continue;
    const std::vector<IndexedJournal>& journals = ranks->index.journals;
    const auto bytes = read_whole_file(*kept_of(*ranks->run_folder), index_name(ranks->rank_zero), kMaxIndexBytes);
    if (!bytes.ok()) continue;
    const Result<RankIndex> again = decode_index(*bytes);
    // Another reader may have added journals to it.
    const auto same = [](const IndexedJournal& a, const IndexedJournal& b) {
      return a.id == b.id && a.events == b.events;
    };
    if (!again.ok() || again->journals.size() < journals.size() ||
        !std::equal(journals.begin(), journals.end(), again->journals.begin(), same)) {
      continue;
    }
    add_events(*ranks, again->events, stream, batches);
  }
}

/// Those of the journals that stand; `events` are those of all, in their order.
void JobLog::add_events(IndexedRanks& ranks, std::span<const IndexedEvent> events, EventStream& stream,
                        Batches& batches) {
  if (events.empty()) return;
  IndexedBatch& batch = *batches.emplace_back(std::make_unique<IndexedBatch>());
  // Events name places in the index's strings.
  for (size_t i = 1; i < ranks.index.strings.size(); ++i) {
    batch.names.add(static_cast<uint16_t>(i), ranks.index.strings[i]);
  }
  for (size_t i = 0; i < ranks.index.journals.size(); ++i) {
    const IndexedJournal& journal = ranks.index.journals[i];
    const auto own = events.first(std::min<size_t>(journal.events, events.size()));
    events = events.subspan(own.size());
    if (own.empty() || ranks.places[i] != IndexPlace::kStands) continue;
    EventContext context{.wall_less_boot_ns = ranks.wall_ns(journal, 0),
                         .position_base = 0,
                         .origin = origin_of(ranks, i),
                         .names = &batch.names};
    const uint64_t writer = writer_bits(journal.process_index, {}, journal.id);
    for (const IndexedEvent& event : own) {
      context.position_base = writer | (uint64_t{event.segment} << kSlotBits);
      batch.events.append(event.stored, context);
    }
  }
  stream.add(std::move(batch.events.mutable_events()));
}

const event::Origin* JobLog::origin_of(IndexedRanks& ranks, size_t journal) {
  const event::Origin*& known = ranks.origins[journal];
  if (known != nullptr) return known;
  const IndexedJournal& indexed = ranks.index.journals[journal];
  const std::string& own_id = ranks.index.strings[indexed.attempt_id];
  const std::optional<size_t> attempt =
      attempt_of_rank(attempts_, own_id, ranks.wall_ns(indexed, indexed.open.boot_ns));
  event::Origin& made = origins_.emplace_back();
  // Attempts may be numbered anew; their ids stay, and so do the index's texts.
  made.attempt_id = own_id;
  if (attempt && attempts_[*attempt].id != own_id) made.attempt_id = strings_.emplace_back(attempts_[*attempt].id);
  made.run_id = run_id_;
  made.host = ranks.index.strings[indexed.host];
  made.boot_id = ranks.index.strings[indexed.boot_id];
  made.process_index = indexed.process_index;
  made.pid = indexed.pid;
  known = &made;
  return known;
}

}  // namespace goodput::journal
