// What a JobLog does with indexes of ranks: takes them in place of the journals that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "journal/folder_names.h"
#include "journal/job_log.h"
#include "journal/predictors.h"

namespace goodput::journal {
namespace {

bool overlaps(const IndexedRanks& ranks, const IndexedJournal& journal, int64_t from_ns, int64_t to_ns) {
  const TimeBounds& times = journal.times;
  if (times.has_wall() && times.first_wall_ns < to_ns && times.last_wall_ns >= from_ns) return true;
  return times.has_boot() && ranks.wall_ns(journal, times.first_boot_ns) < to_ns &&
         ranks.wall_ns(journal, times.last_boot_ns) >= from_ns;
}

}  // namespace

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
    if (places[i] != IndexPlace::kStands || journal.boot_id == 0) continue;
    if (place[journal.boot_id] == 0) {
      boots.push_back({journal.boot_id, journal.open});
      place[journal.boot_id] = boots.size();
    }
    Boot& boot = boots[place[journal.boot_id] - 1];
    if (journal.open.boot_ns < boot.first.boot_ns) boot.first = journal.open;
  }
}

/// Takes an index in place of journals of which none is known yet.
void JobLog::load_index(RunFolder& folder, const JournalId& rank_zero, std::span<const JournalId> listed,
                        std::span<const JournalId> known) {
  const auto bytes = read_whole_file(*folder.directory, index_name(rank_zero), kMaxIndexBytes);
  if (!bytes.ok()) return;
  Result<RankIndex> index = decode_index(*bytes);
  if (!index.ok() || index->job != job_ || index->run_id != run_id_ || index->rank_zero != rank_zero) return;
  auto ranks = std::make_unique<IndexedRanks>();
  ranks->run_folder = folder.directory.get();
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
    return attempt && openers_[*attempt]->file->id() == ranks.index.rank_zero;
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
    const auto folder = std::find_if(folders_.begin(), folders_.end(), [&](const RunFolder& candidate) {
      return candidate.directory.get() == ranks->run_folder;
    });
    for (size_t i = 0; i < ranks->places.size(); ++i) {
      if (ranks->places[i] != IndexPlace::kStands || ranks->index.journals[i].is_dropped) continue;
      ranks->places[i] = IndexPlace::kLeftOut;
      Member& member = add_member(ranks->index.journals[i].id, *folder);
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
    for (const IndexedRanks::Boot& boot : ranks->boots) clocks_[ranks->index.strings[boot.boot_id]].is_fixed = true;
    const std::vector<IndexedEvent> events = std::exchange(ranks->index.events, {});
    add_events(*ranks, events, stream, batches);
  }
}

void JobLog::read_indexed(int64_t from_ns, int64_t to_ns, EventStream& stream, Batches& batches) {
  for (const auto& ranks : indexes_) {
    const std::vector<IndexedJournal>& journals = ranks->index.journals;
    const bool is_wanted = std::any_of(journals.begin(), journals.end(), [&](const IndexedJournal& journal) {
      return overlaps(*ranks, journal, from_ns, to_ns);
    });
    if (!ranks->is_given || !is_wanted) continue;
    const auto bytes = read_whole_file(*ranks->run_folder, index_name(ranks->index.rank_zero), kMaxIndexBytes);
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
  made.attempt_id = strings_.emplace_back(attempt ? attempts_[*attempt].id : own_id);
  made.run_id = run_id_;
  made.host = strings_.emplace_back(ranks.index.strings[indexed.host]);
  made.boot_id = strings_.emplace_back(ranks.index.strings[indexed.boot_id]);
  made.process_index = indexed.process_index;
  made.pid = indexed.pid;
  known = &made;
  return known;
}

}  // namespace goodput::journal
