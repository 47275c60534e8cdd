// SPDX-License-Identifier: Apache-2.0
#include "journal/job_log.h"

#include <algorithm>
#include <charconv>

#include "base/checksum.h"
#include "journal/cache_file.h"
#include "journal/folder_names.h"
#include "journal/predictors.h"

namespace goodput::journal {
namespace {

constexpr int64_t kSecondNs = event::kNanosecondsPerSecond;
// A folder's time of change is as coarse as the kernel's tick; within a second of a change another may hide behind it.
constexpr int64_t kFreshChangeNs = 1 * kSecondNs;
// And listings may miss a name: looked at again now and then (3,000 names: 1 ms).
constexpr int64_t kListAgainNs = 10 * kSecondNs;

/// "<nanoseconds> <checksum of these digits>".
std::string dropped_text(int64_t before_ns) {
  const std::string digits = std::to_string(before_ns);
  return digits + " " + std::to_string(crc32c(std::as_bytes(std::span(digits))));
}

int64_t read_dropped(Directory& kept) {
  constexpr uint64_t kMostBytes = 64;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  const auto bytes = read_whole_file(kept, kDroppedFile, kMostBytes);
  if (!bytes.ok()) return kNever;
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  int64_t before_ns = 0;
  std::from_chars(text.data(), text.data() + text.size(), before_ns);
  return text == dropped_text(before_ns) ? before_ns : kNever;
}

}  // namespace

JobLog::JobLog(const std::string& job, const std::string& run_id, const Clock& clock)
    : job_(cut_text(job, kMaxJobBytes)),
      run_id_(cut_text(run_id, kMaxIdBytes)),
      clock_(&clock),
      boot_id_(read_boot_id()) {}

Result<std::unique_ptr<JobLog>> JobLog::open(FileSystem& files, const std::vector<Root>& roots, const std::string& job,
                                             const std::string& run_id, const Clock& clock) {
  std::unique_ptr<JobLog> log(new JobLog(job, run_id, clock));
  Status failure(StatusCode::kNotFound, "looking for journals of job \"" + log->job_ + "\": there are none");
  for (const Root& candidate : roots) {
    Result<std::unique_ptr<Directory>> root = open_root(files, candidate);
    Result<std::unique_ptr<Directory>> run =
        root.ok() ? open_run_folder(**root, job, run_id) : Result<std::unique_ptr<Directory>>(root.status());
    if (run.ok()) {
      RunFolder& folder = log->folders_.emplace_back();
      folder.directory = std::move(run).value();
      folder.is_local = folder.directory->is_local();
      if (auto kept = folder.directory->open_directory(kKeptFolder); kept.ok()) folder.kept = std::move(kept).value();
      if (folder.kept != nullptr)
        log->dropped_before_ns_ = std::max(log->dropped_before_ns_, read_dropped(*folder.kept));
    } else if (run.status().code() != StatusCode::kNotFound) {
      failure = run.status();
    }
  }
  if (log->folders_.empty()) return failure;
  return log;
}

Status JobLog::note_dropped(const Directory& run_folder) {
  ASSIGN_OR_RETURN(Directory* const kept, make_kept(run_folder));
  const std::string text = dropped_text(std::max(oldest_ns_, dropped_before_ns_));
  return replace_file(*kept, kDroppedFile, scratch_name(kDroppedFile), std::as_bytes(std::span(text)));
}

Status JobLog::poll(Sink sink) {
  find_journals();
  const ClockPair now = read_pair(*clock_);
  look_again(now);
  std::vector<std::vector<FreshPart>> fresh(members_.size());
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = *members_[i];
    // A folder that is gone has nothing new; what it held is missed when it is read back.
    if (!member.file->has_ended()) {
      (void)member.file->refresh(*member.run_folder, observer_of(member, now), decompressor_, fresh[i]);
    }
  }
  do {
    set_clocks();
    assign();
  } while (replace_misfits(now, fresh));

  EventStream stream({.states_losses = true, .with_untimed = true}, decompressor_);
  std::vector<event::Event> heartbeats;
  Batches indexed;
  give_indexed(stream, indexed);
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = *members_[i];
    if (member.part != JournalPart::kIncluded) continue;
    if (!member.is_given && member.was_refreshed) {
      // It has waited for its attempt to be known: all that was found meanwhile.
      for (const SegmentState& segment : member.file->segments()) stream.add(member.view, segment);
    } else {
      for (FreshPart& part : fresh[i]) stream.add(member.view, std::move(part));
    }
    member.is_given = true;
    clocks_[member.file->facts().header->boot_id].is_fixed = true;
    add_heartbeats(member, heartbeats);
  }
  for (const auto& member : members_) member->was_refreshed = true;
  if (!heartbeats.empty()) stream.add(std::move(heartbeats));
  return stream.run([&](std::span<const event::Event> events) {
    sink(events);
    return true;
  });
}

Observer JobLog::observer_of(const Member& member, const ClockPair& now) const {
  const auto folder = std::find_if(folders_.begin(), folders_.end(), [&](const RunFolder& candidate) {
    return candidate.directory.get() == member.run_folder;
  });
  return {.boot_id = boot_id_, .now = now, .is_local = folder->is_local};
}

const JobLog::Member* JobLog::first_alive() const {
  const auto found = std::find_if(members_.begin(), members_.end(), [](const auto& member) {
    const JournalFile::Facts& facts = member->file->facts();
    return !facts.is_dead && facts.header.has_value();
  });
  return found == members_.end() ? nullptr : found->get();
}

/// Of the journals that have ended a few in turn, so that their number does not matter: one may have been stopped only.
void JobLog::look_again(const ClockPair& now) {
  constexpr size_t kLookedAt = 4;
  for (size_t i = 0; i < std::min(kLookedAt, members_.size()); ++i) {
    Member& member = *members_[looked_at_++ % members_.size()];
    member.file->look_again(*member.run_folder, observer_of(member, now));
  }
}

Status JobLog::read(int64_t from_ns, int64_t to_ns, Sink sink) {
  EventStream stream({.from_ns = from_ns, .to_ns = to_ns}, decompressor_);
  std::vector<event::Event> heartbeats;
  Batches indexed;
  read_indexed(from_ns, to_ns, stream, indexed);
  for (const std::unique_ptr<Member>& member : members_) {
    if (!member->is_given) continue;
    for (const SegmentState& segment : member->file->segments()) stream.add(member->view, segment);
    for (const event::Event& heartbeat : member->heartbeats) {
      if (heartbeat.time_ns >= from_ns && heartbeat.time_ns < to_ns) heartbeats.push_back(heartbeat);
    }
  }
  if (!heartbeats.empty()) stream.add(std::move(heartbeats));
  return stream.run(sink);
}

void JobLog::find_journals() {
  const int64_t now_boot_ns = clock_->boot_ns(), now_wall_ns = clock_->wall_ns();
  for (RunFolder& folder : folders_) {
    const Result<FileFacts> facts = folder.directory->facts();
    if (!facts.ok()) continue;
    const bool is_fresh = std::abs(now_wall_ns - facts->modified_ns) <= kFreshChangeNs;
    const bool unchanged = folder.was_listed && facts->modified_ns == folder.modified_ns && !is_fresh &&
                           now_boot_ns - folder.listed_at_ns < kListAgainNs;
    if (unchanged) continue;
    folder.modified_ns = facts->modified_ns;
    folder.listed_at_ns = now_boot_ns;
    folder.is_settled = !is_fresh;
    list_folder(folder);
  }
}

void JobLog::list_folder(RunFolder& folder) {
  const Result<std::vector<JournalId>> listed = list_journals(*folder.directory);
  if (!listed.ok()) return;
  std::vector<JournalId> known;
  for (const auto& ranks : indexes_) {
    // What can no longer be told from what is new must not be given twice.
    if (!load(*ranks)) return;
    for (size_t i = 0; i < ranks->places.size(); ++i) {
      if (ranks->places[i] == IndexPlace::kStands) known.push_back(ranks->index.journals[i].id);
    }
  }
  for (const auto& member : members_) known.push_back(member->file->id());
  std::sort(known.begin(), known.end());
  folder.was_listed = true;
  if (folder.is_settled) listed_names_ += listed->size();
  const size_t indexes_before = indexes_.size();
  if (folder.kept != nullptr) {
    for (const JournalId& rank_zero : list_indexes(*folder.kept)) {
      if (folder.indexes_seen.insert(rank_zero).second) add_index(folder, rank_zero, *listed, known);
    }
  }
  for (size_t k = indexes_before; k < indexes_.size(); ++k) {
    for (size_t i = 0; i < indexes_[k]->places.size(); ++i) {
      if (indexes_[k]->places[i] == IndexPlace::kStands) known.push_back(indexes_[k]->index.journals[i].id);
    }
  }
  std::sort(known.begin(), known.end());
  for (const JournalId& id : *listed) {
    if (std::binary_search(known.begin(), known.end(), id)) continue;
    add_member(id, folder);
    ++opened_journals_;
  }
}

JobLog::Member& JobLog::add_member(const JournalId& id, RunFolder& folder) {
  Member& member = *members_.emplace_back(std::make_unique<Member>());
  member.file = std::make_unique<JournalFile>(id);
  member.run_folder = folder.directory.get();
  member.view.file = member.file.get();
  member.view.run_folder = member.run_folder;
  return member;
}

bool JobLog::is_ours(const Member& member) const {
  const JournalFile::Facts& facts = member.file->facts();
  return facts.refused.empty() && facts.header && facts.header->job == job_ && facts.header->run_id == run_id_;
}

/// Journals of one boot share the first reading of the wall clock among them: a step of it moves nothing.
void JobLog::set_clocks() {
  const auto take = [&](const std::string& boot_id, const ClockPair& pair) {
    FirstReading& first = clocks_[boot_id];
    const bool is_new = first.pair.boot_ns == 0 && first.pair.wall_ns == 0;
    if (is_new || (!first.is_fixed && pair.boot_ns < first.pair.boot_ns)) first.pair = pair;
  };
  for (const auto& member : members_) {
    if (!is_ours(*member)) continue;
    const LiveHeader& header = *member->file->facts().header;
    take(header.boot_id, {header.open_boot_ns, header.open_wall_ns});
  }
  for (const auto& ranks : indexes_) {
    for (const IndexedRanks::Boot& boot : ranks->boots) take(ranks->index.strings[boot.boot_id], boot.first);
  }
  for (const auto& member : members_) {
    if (!is_ours(*member)) continue;
    const LiveHeader& header = *member->file->facts().header;
    const ClockPair own{header.open_boot_ns, header.open_wall_ns};
    // Without a boot id nothing says whose boot times compare.
    const ClockPair& pair = header.boot_id.empty() ? own : clocks_[header.boot_id].pair;
    member->view.wall_less_boot_ns = wrapping_subtract(pair.wall_ns, pair.boot_ns);
    member->view.writer_bits = writer_bits(header.process_index, header.role, header.journal_id);
  }
  for (const auto& ranks : indexes_) {
    if (ranks->is_loaded) set_clocks(*ranks);
  }
}

int64_t JobLog::wall_ns(const Member& member, int64_t boot_ns) {
  return wrapping_add(boot_ns, member.view.wall_less_boot_ns);
}

void JobLog::assign() {
  std::vector<Member*> ours;
  std::vector<JournalFacts> facts;
  for (const auto& member : members_) {
    if (!is_ours(*member)) continue;
    const JournalFile::Facts& known = member->file->facts();
    if (is_imported(*known.header)) {
      member->part = JournalPart::kIncluded;
      member->view.origins = {{.position = {}, .origin = nullptr}};
      member->view.imported = &imported_origins_;
      continue;
    }
    ours.push_back(member.get());
    JournalFacts& added = facts.emplace_back();
    added.journal_id = id_name(member->file->id());
    added.attempt_id = known.header->attempt_id;
    added.role = known.header->role;
    added.process_index = known.header->process_index;
    added.start_ns = wall_ns(*member, known.header->open_boot_ns);
    added.last_sign_ns = wall_ns(*member, std::max(known.pulse.boot_ns, known.last_event_boot_ns));
    added.is_dead = known.is_dead;
    for (const JournalFile::Facts::JobStart& start : known.job_starts) {
      added.job_starts.push_back(member->view.position_of(start.boot_ns, start.segment, start.slot));
    }
  }
  Attempts assigned = assign_attempts(facts, clock_->wall_ns());
  attempts_ = std::move(assigned.attempts);
  for (size_t i = 0; i < ours.size(); ++i) {
    ours[i]->part = assigned.journals[i].part;
    ours[i]->beside = assigned.journals[i].beside;
    ours[i]->attempts.clear();
    ours[i]->rank_zero = nullptr;
    if (ours[i]->part != JournalPart::kIncluded) continue;
    const std::vector<AttemptFrom>& from = assigned.journals[i].from;
    set_origins(*ours[i], from);
    const bool is_trainer = ours[i]->file->facts().header->role.empty();
    if (is_trainer) ours[i]->rank_zero = ours[attempts_[from.front().attempt].journal];
  }
  openers_.clear();
  for (size_t i = 0; i < attempts_.size(); ++i) {
    ours[attempts_[i].journal]->attempts.push_back(i);
    openers_.push_back(ours[attempts_[i].journal]);
  }
}

void JobLog::set_origins(Member& member, const std::vector<AttemptFrom>& from) {
  member.view.origins.clear();
  for (const AttemptFrom& part : from) {
    member.view.origins.push_back({part.position, origin_of(member, part.attempt)});
  }
}

const event::Origin* JobLog::origin_of(const Member& member, size_t attempt) {
  const LiveHeader& header = *member.file->facts().header;
  const std::string& id = attempt == AttemptFrom::kNone ? header.attempt_id : attempts_[attempt].id;
  const event::Origin*& known = origin_by_attempt_[{&member, id}];
  if (known != nullptr) return known;
  event::Origin& made = origins_.emplace_back();
  made.attempt_id = strings_.emplace_back(id);
  // The header's strings live as long as the journal's file object, and that as long as this.
  made.run_id = header.run_id;
  made.role = header.role;
  made.host = header.host;
  made.boot_id = header.boot_id;
  made.process_index = header.process_index;
  made.pid = header.pid;
  known = &made;
  return known;
}

/// The last sign of life of each attempt. An attempt that another followed in the same process lived until then.
void JobLog::add_heartbeats(Member& member, std::vector<event::Event>& fresh) {
  const JournalFile::Facts& facts = member.file->facts();
  if (!is_rank_zero(*facts.header)) return;
  member.heartbeats.resize(member.attempts.size());
  for (size_t i = 0; i < member.attempts.size(); ++i) {
    const Attempt& attempt = attempts_[member.attempts[i]];
    const bool is_last = i + 1 == member.attempts.size();
    const int64_t time_ns = is_last ? std::max(wall_ns(member, facts.pulse.boot_ns), attempt.start_ns)
                                    : attempts_[member.attempts[i + 1]].start_ns;
    event::Event& known = member.heartbeats[i];
    // One before the attempt's last event says no more than that one, and would be late for who folds them in order.
    const bool says_more = !is_last || time_ns > wall_ns(member, facts.last_event_boot_ns);
    if (known.kind != event::Kind::kNone && (time_ns <= known.time_ns || !says_more)) continue;
    known = heartbeat_of(member, i, time_ns);
    fresh.push_back(known);
  }
}

event::Event JobLog::heartbeat_of(const Member& member, size_t attempt, int64_t time_ns) {
  constexpr uint64_t kBehindAllSlots = (uint64_t{1} << (kSegmentBits + kSlotBits)) - 1;
  event::Event made;
  made.kind = event::Kind::kHeartbeat;
  made.time_ns = time_ns;
  made.position = {static_cast<uint64_t>(std::max<int64_t>(time_ns, 0)), member.view.writer_bits | kBehindAllSlots};
  made.origin = member.view.origins[attempt].origin;
  return made;
}

}  // namespace goodput::journal
