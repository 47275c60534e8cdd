// All events of one run of a job, from all of its journals: for a ledger to be fed with, and to read back.
//
// Use it cold (one poll gives everything, in order) or live (each poll gives what is new); read() gives again what
// polls gave, for any range of time.
//
//   ASSIGN_OR_RETURN(auto log, JobLog::open(files, roots, "llama-7b", "", system_clock()));
//   RETURN_IF_ERROR(log->poll([&](std::span<const event::Event> events) { ledger.add(events); return true; }));
//   RETURN_IF_ERROR(log->read(from_ns, to_ns, sink));
//
// Rank 0's journals and those of launchers and monitors are given whole, of other ranks the checkpoint statistics; each
// event with its attempt (Event::origin). Of each attempt's liveness polls give the latest sign as a heartbeat, which
// read() knows in its last place only. One thread at a time; writers may write meanwhile, and be sealed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "event/source.h"
#include "journal/attempts.h"
#include "journal/event_stream.h"
#include "journal/finding.h"
#include "journal/indexed_ranks.h"
#include "journal/journal_file.h"
#include "journal/run_folder.h"

namespace goodput::journal {

class JobLog final : public event::Source {
 public:
  /// A run that has journals under any of `roots`. kNotFound: none of them has one; other failures: none could be read.
  /// `files` and `clock` outlive it.
  static Result<std::unique_ptr<JobLog>> open(FileSystem& files, const std::vector<Root>& roots, const std::string& job,
                                              const std::string& run_id, const Clock& clock);

  /// Gives `sink` what is new, ordered by (time, position) within this poll; what it returns does not matter. An event
  /// may be older than those of earlier polls: it was recorded in another thread or process and only now seen.
  Status poll(Sink sink);

  Status read(int64_t from_ns, int64_t to_ns, Sink sink) override;
  [[nodiscard]] int64_t oldest_ns() const override { return oldest_ns_; }
  /// What is older is about to be dropped. Cursors keep it.
  void set_oldest(int64_t oldest_ns) { oldest_ns_ = oldest_ns; }
  /// Notes it in what readers keep of `run_folder`, durably, so that logs without a cursor miss what is gone.
  Status note_dropped(const Directory& run_folder);

  /// What it takes to go on in another process: pass it to resume() of a JobLog that was opened for the same run and
  /// has not polled. Grows with the number of segments, by 20 bytes each.
  [[nodiscard]] std::vector<std::byte> cursor() const;
  /// kUnsupported: of another version of the program; poll from the beginning then.
  Status resume(std::span<const std::byte> cursor);

  [[nodiscard]] std::vector<Finding> findings() const;

  /// How much a reader with a cursor of this log is spared: names that were listed (in a folder at rest, where it need
  /// not list again), each a microsecond, and journals that were opened or indexed, each a hundred.
  [[nodiscard]] uint64_t searched() const { return listed_names_ + 100 * opened_journals_; }

  /// What headers say of the whole job: the newest rank 0's word.
  struct JobFacts {
    std::string job, run_id;
    std::vector<std::pair<std::string, std::string>> labels;
    std::optional<int64_t> accelerators;
    std::string accelerator_type;
    bool may_grow = false;  ///< a process that writes is alive
  };
  [[nodiscard]] JobFacts job_facts() const;

  struct Member {
    std::unique_ptr<JournalFile> file;
    Directory* run_folder = nullptr;
    JournalView view;
    JournalPart part = JournalPart::kUndecided;
    size_t beside = 0;
    const Member* rank_zero = nullptr;     ///< of the launch to which it belongs; launchers, monitors and orphans: none
    bool is_given = false;                 ///< its events are among those that polls gave
    bool was_refreshed = false;            ///< by an earlier poll than this
    bool is_indexed = false;               ///< an index on disk says what it says
    std::vector<size_t> attempts;          ///< that it opened, by their start
    std::vector<event::Event> heartbeats;  ///< the latest given of each of them
  };
  /// Every journal of the run that was read, in no order; and the indexes that stand for others.
  [[nodiscard]] const std::vector<std::unique_ptr<Member>>& members() const { return members_; }
  /// One that somebody may still be writing; null: all are dead.
  [[nodiscard]] const Member* first_alive() const;
  [[nodiscard]] const std::vector<std::unique_ptr<IndexedRanks>>& indexes() const { return indexes_; }
  [[nodiscard]] const std::vector<Attempt>& attempts() const { return attempts_; }
  /// Makes the rest of an index known. False: its file is no longer what it was.
  bool load(IndexedRanks& ranks);
  /// Where it reads, under one root or several; and what readers keep there: none while there is no such folder.
  [[nodiscard]] std::vector<Directory*> run_folders() const;
  [[nodiscard]] Directory* kept_of(const Directory& run_folder) const;
  /// Makes that folder where there is none.
  Result<Directory*> make_kept(const Directory& run_folder);
  /// The journal that opened an attempt.
  [[nodiscard]] const Member& opener(size_t attempt) const { return *openers_[attempt]; }
  /// Wall time of a moment on the clock of a journal.
  [[nodiscard]] static int64_t wall_ns(const Member& member, int64_t boot_ns);

 private:
  friend class CursorCodec;
  friend class IndexWriter;

  struct RunFolder {
    std::unique_ptr<Directory> directory;
    bool is_local = false;
    bool was_listed = false;
    int64_t listed_at_ns = 0;  ///< boot time of the last listing
    int64_t modified_ns = 0;   ///< of the folder then
    bool is_settled = false;   ///< it had not changed for a while then: nothing was missed
    std::unique_ptr<Directory> kept;
    std::set<JournalId> indexes_seen;
  };
  /// Events of an index on their way through a stream.
  struct IndexedBatch {
    NameTable names;
    EventBatch events;
  };
  using Batches = std::vector<std::unique_ptr<IndexedBatch>>;
  /// The first reading of the wall clock on a boot.
  struct FirstReading {
    ClockPair pair;
    bool is_fixed = false;  ///< events were given with it
  };

  JobLog(const std::string& job, const std::string& run_id, const Clock& clock);

  void find_journals();
  [[nodiscard]] Observer observer_of(const Member& member, const ClockPair& now) const;
  void look_again(const ClockPair& now);
  void list_folder(RunFolder& folder);
  Member& add_member(const JournalId& id, RunFolder& folder);
  void set_clocks();
  void set_clocks(IndexedRanks& ranks);
  void assign();
  void set_origins(Member& member, const std::vector<AttemptFrom>& from);
  const event::Origin* origin_of(const Member& member, size_t attempt);
  // job_ranks.cc
  void add_index(RunFolder& folder, const JournalId& rank_zero, std::span<const JournalId> listed,
                 std::span<const JournalId> known);
  [[nodiscard]] RunFolder& folder_of(const Directory& run_folder);
  bool replace_misfits(const ClockPair& now, std::vector<std::vector<FreshPart>>& fresh);
  [[nodiscard]] bool fits(const IndexedRanks& ranks) const;
  void give_indexed(EventStream& stream, Batches& batches);
  void read_indexed(int64_t from_ns, int64_t to_ns, EventStream& stream, Batches& batches);
  void add_events(IndexedRanks& ranks, std::span<const IndexedEvent> events, EventStream& stream, Batches& batches);
  const event::Origin* origin_of(IndexedRanks& ranks, size_t journal);
  void add_heartbeats(Member& member, std::vector<event::Event>& fresh);
  [[nodiscard]] static event::Event heartbeat_of(const Member& member, size_t attempt, int64_t time_ns);
  [[nodiscard]] bool is_ours(const Member& member) const;

  std::string job_;
  std::string run_id_;
  const Clock* clock_;
  std::string boot_id_;
  std::vector<RunFolder> folders_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<IndexedRanks>> indexes_;
  std::vector<Attempt> attempts_;
  std::vector<const Member*> openers_;                 // by attempt
  std::map<std::string, FirstReading> clocks_;         // by boot id
  std::deque<std::string> strings_;                    // what origins refer to
  std::vector<std::vector<std::string>> old_strings_;  // of indexes that grew: origins refer to them
  std::deque<event::Origin> origins_;
  std::map<std::pair<const Member*, std::string>, const event::Origin*> origin_by_attempt_;
  int64_t oldest_ns_ = std::numeric_limits<int64_t>::min();
  int64_t dropped_before_ns_ = std::numeric_limits<int64_t>::min();  // as it was noted when this was opened
  uint64_t listed_names_ = 0;
  uint64_t opened_journals_ = 0;
  ImportedOrigins imported_origins_;
  size_t looked_at_ = 0;  // of the members that have ended
  Decompressor decompressor_;
};

}  // namespace goodput::journal
