// SPDX-License-Identifier: Apache-2.0
#include "journal/index_writer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "journal/cache_file.h"
#include "journal/folder_names.h"
#include "journal/ranks.h"
#include "journal/read_backwards.h"

namespace goodput::journal {
namespace {

// Where nobody but its keeper may seal a journal (another machine's disk) it stays live for ever: after an hour of
// silence its process is not coming back.
constexpr int64_t kLongSilentNs = 3'600 * event::kNanosecondsPerSecond;

bool is_rank_beside_zero(const JobLog::Member& member) {
  return member.rank_zero != nullptr && member.rank_zero != &member && member.file->facts().header->process_index != 0;
}

uint64_t bytes_of(const JobLog::Member& member) {
  uint64_t bytes = 0;
  const auto folder = member.run_folder->open_directory(id_name(member.file->id()));
  for (size_t i = 0; folder.ok() && i < member.file->segments().size(); ++i) {
    const uint32_t number = member.file->segments()[i].number;
    const Result<FileFacts> facts = (*folder)->facts(segment_name(number, SegmentForm::kSealed));
    if (facts.ok()) bytes += facts->size_bytes;
  }
  return bytes;
}

/// Those of `index` whose journals are not `replaced`.
RankIndex without(RankIndex index, const std::set<JournalId>& replaced) {
  std::vector<IndexedJournal> journals;
  std::vector<IndexedEvent> events;
  std::vector<IndexedTrouble> troubles;
  size_t next = 0;
  for (size_t i = 0; i < index.journals.size(); ++i) {
    const IndexedJournal& journal = index.journals[i];
    const auto own = std::span(index.events).subspan(next, journal.events);
    next += journal.events;
    if (replaced.contains(journal.id)) continue;
    for (const IndexedTrouble& trouble : index.troubles) {
      if (trouble.journal != i) continue;
      troubles.push_back(trouble);
      troubles.back().journal = static_cast<uint32_t>(journals.size());
    }
    journals.push_back(journal);
    events.insert(events.end(), own.begin(), own.end());
  }
  index.journals = std::move(journals);
  index.events = std::move(events);
  index.troubles = std::move(troubles);
  return index;
}

}  // namespace

void IndexWriter::write(std::span<Directory* const> folders, FunctionRef<bool()> is_enough) {
  std::map<std::pair<const Member*, Directory*>, Launch> launches;
  for (const auto& member : log_->members_) {
    if (!is_rank_beside_zero(*member) || member->is_indexed) continue;
    if (std::find(folders.begin(), folders.end(), member->run_folder) == folders.end()) continue;
    Launch& launch = launches[{member->rank_zero, member->run_folder}];
    if (member->is_given && is_at_rest(*member)) {
      launch.ended.push_back(member.get());
    } else {
      ++launch.others;
    }
  }
  for (const auto& [key, launch] : launches) {
    const auto& [rank_zero, folder] = key;
    // Lateness is compared with all steps of rank 0.
    if (launch.ended.empty() || !is_at_rest(*rank_zero)) continue;
    if (is_enough()) return;
    // While others live it is written again only when it grows by a quarter.
    const IndexedRanks* known = known_index(*rank_zero, *folder);
    if (launch.others > 0 && known != nullptr && launch.ended.size() * 4 < known->count) continue;
    if (!write_launch(*rank_zero, *folder, launch.ended)) return;
  }
}

IndexedRanks* IndexWriter::known_index(const Member& rank_zero, const Directory& folder) {
  for (const auto& ranks : log_->indexes_) {
    if (ranks->run_folder == &folder && ranks->rank_zero == rank_zero.file->id()) return ranks.get();
  }
  return nullptr;
}

/// Nothing will be added to it.
bool IndexWriter::is_at_rest(const Member& member) const {
  if (!member.file->has_ended()) return false;
  const JournalFile::Facts& facts = member.file->facts();
  const int64_t last_sign_ns = JobLog::wall_ns(member, std::max(facts.pulse.boot_ns, facts.last_event_boot_ns));
  return !member.file->has_live_files() || clock_->wall_ns() - last_sign_ns > kLongSilentNs;
}

/// False when nothing more should be tried.
bool IndexWriter::write_launch(const Member& rank_zero, Directory& folder, std::span<Member* const> ended) {
  const std::string name = index_name(rank_zero.file->id());
  RankIndex index{.job = log_->job_, .run_id = log_->run_id_, .rank_zero = rank_zero.file->id()};
  Result<Directory*> kept = log_->make_kept(folder);
  if (!kept.ok()) return false;
  IndexedRanks* own = known_index(rank_zero, folder);
  if (own != nullptr && !log_->load(*own)) return true;
  // Others may have written it meanwhile, and only it may know of journals that were dropped.
  if (const auto before = read_whole_file(**kept, name, kMaxIndexBytes); before.ok()) {
    Result<RankIndex> there = decode_index(*before);
    if (there.status().code() == StatusCode::kUnsupported) return true;
    const bool is_ours = there.ok() && there->job == index.job && there->run_id == index.run_id;
    // What this log was given of it must stay in it.
    const bool goes_on = is_ours && (own == nullptr || (there->journals.size() >= own->count &&
                                                        checksum_of_ids(*there, own->count) == own->ids_checksum));
    if (own != nullptr && !goes_on) return true;
    std::set<JournalId> replaced;
    for (const Member* member : ended) replaced.insert(member->file->id());
    if (is_ours && there->rank_zero == index.rank_zero) index = without(std::move(there).value(), replaced);
  } else if (own != nullptr) {
    return true;
  }
  LatenessReader lateness(rank_zero);
  Decompressor decompressor;
  for (const Member* member : ended) {
    if (!add(*member, lateness, decompressor, index)) return true;
  }
  const std::vector<std::byte> bytes = encode_index(index);
  if (index.journals.size() > kMostIndexed || bytes.size() > kMaxIndexBytes) return true;
  const bool is_needed = std::any_of(index.journals.begin(), index.journals.end(),
                                     [](const IndexedJournal& journal) { return journal.is_dropped; });
  const Status written =
      is_needed ? replace_file(**kept, name, scratch_name(name), bytes) : replace_cache_file(**kept, name, bytes);
  if (!written.ok()) return false;
  for (Member* member : ended) member->is_indexed = true;
  log_->opened_journals_ += ended.size();
  take_over(rank_zero, folder, std::move(index), checksum_of_index(bytes).value_or(0));
  return true;
}

bool IndexWriter::mark_dropped(IndexedRanks& ranks, std::span<const size_t> places) {
  if (!log_->load(ranks)) return false;
  Directory& kept = *log_->kept_of(*ranks.run_folder);
  const std::string name = index_name(ranks.rank_zero);
  const auto before = read_whole_file(kept, name, kMaxIndexBytes);
  if (!before.ok()) return false;
  Result<RankIndex> index = decode_index(*before);
  if (!index.ok() || index->journals.size() < ranks.count ||
      checksum_of_ids(*index, ranks.count) != ranks.ids_checksum) {
    return false;
  }
  for (const size_t place : places) index->journals[place].is_dropped = true;
  const std::vector<std::byte> bytes = encode_index(*index);
  if (!replace_file(kept, name, scratch_name(name), bytes).ok()) return false;
  for (const size_t place : places) ranks.index.journals[place].is_dropped = true;
  ranks.summarize(checksum_of_index(bytes).value_or(0));
  return true;
}

/// False when there is no room for its texts.
bool IndexWriter::add(const Member& member, LatenessReader& lateness, Decompressor& decompressor, RankIndex& index) {
  const JournalFile::Facts& facts = member.file->facts();
  const LiveHeader& header = *facts.header;
  const auto attempt_id = index.place_of(header.attempt_id), host = index.place_of(header.host);
  const auto boot_id = index.place_of(header.boot_id);
  if (!attempt_id || !host || !boot_id) return false;
  IndexedJournal journal;
  journal.id = member.file->id();
  journal.process_index = header.process_index;
  journal.pid = header.pid;
  journal.open = {header.open_boot_ns, header.open_wall_ns};
  journal.pulse_boot_ns = facts.pulse.boot_ns;
  journal.last_event_boot_ns = facts.last_event_boot_ns;
  journal.folder_modified_ns = member.file->folder_modified_ns();
  journal.attempt_id = *attempt_id;
  journal.host = *host;
  journal.boot_id = *boot_id;
  journal.bytes = bytes_of(member);
  lateness.set(member, journal.late_p90_ns, journal.late_p99_ns);
  if (!add_events(member, decompressor, index, journal)) return false;
  IndexedTrouble trouble{static_cast<uint32_t>(index.journals.size()), facts.counters, member.file->losses()};
  const auto& counts = trouble.counters.counts;
  const bool is_sound =
      trouble.losses.empty() && std::all_of(counts.begin(), counts.end(), [](uint64_t n) { return n == 0; });
  if (!is_sound) index.troubles.push_back(std::move(trouble));
  index.journals.push_back(journal);
  return true;
}

bool IndexWriter::add_events(const Member& member, Decompressor& decompressor, RankIndex& index,
                             IndexedJournal& journal) {
  bool has_room = true;
  read_backwards(*member.run_folder, *member.file, member.file->wanted_kinds(), decompressor,
                 [&](const StoredPart& part) {
                   for (const StoredEvent& stored : part.events) {
                     IndexedEvent& added = index.events.emplace_back(IndexedEvent{stored, part.segment});
                     journal.times.add(stored.event);
                     ++journal.events;
                     if (stored.event.name == kMoreNames) continue;
                     const auto name = index.place_of(part.names[stored.event.name]);
                     has_room = has_room && name;
                     added.stored.event.name = static_cast<uint16_t>(name.value_or(0));
                   }
                   return has_room;
                 });
  return has_room;
}

/// From here on the log's cursor refers to the index.
void IndexWriter::take_over(const Member& rank_zero, Directory& folder, RankIndex index, uint32_t checksum) {
  std::set<JournalId> read;
  for (const auto& member : log_->members_) {
    if (member->is_indexed) read.insert(member->file->id());
  }
  IndexedRanks* ranks = known_index(rank_zero, folder);
  if (ranks == nullptr) ranks = log_->indexes_.emplace_back(std::make_unique<IndexedRanks>()).get();
  std::set<JournalId> standing;
  for (size_t i = 0; i < ranks->places.size(); ++i) {
    if (ranks->places[i] == IndexPlace::kStands) standing.insert(ranks->index.journals[i].id);
  }
  ranks->run_folder = &folder;
  ranks->rank_zero = index.rank_zero;
  ranks->is_given = true;
  ranks->is_loaded = true;
  log_->old_strings_.push_back(std::move(ranks->index.strings));
  ranks->index = std::move(index);
  ranks->index.events.clear();
  ranks->places.clear();
  for (const IndexedJournal& journal : ranks->index.journals) {
    ranks->places.push_back(standing.contains(journal.id) ? IndexPlace::kStands
                            : read.contains(journal.id)   ? IndexPlace::kRead
                                                          : IndexPlace::kLeftOut);
  }
  ranks->set_boots();
  log_->set_clocks();
  ranks->summarize(checksum);
}

}  // namespace goodput::journal
