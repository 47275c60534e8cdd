// One journal as a reader follows it: which segments it has, what of them was given out, and what it says of itself.
//
// refresh() finds out what is new; the new parts are then read, and from then on count as given out. Segments that are
// finished are remembered by a few words each; of those still written, how many slots of each run were consumed.
//
//   JournalFile journal(id);
//   std::vector<FreshPart> fresh;
//   RETURN_IF_ERROR(journal.refresh(run_folder, observer, decompressor, fresh));
//   journal.facts().pulse, journal.segments() …
//
// Directory listings are believed only for what they show; numbers are probed. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "journal/liveness.h"
#include "journal/sealed_index.h"
#include "journal/sealed_reader.h"
#include "journal/segment.h"

namespace goodput::journal {

/// Some slots of a segment: those of run r from from[r] up to to[r]. Missing entries: from the first, to the last.
struct SlotWindow {
  uint32_t first_slot = 0;  ///< of run 0
  std::vector<uint8_t> from, to;

  [[nodiscard]] bool is_everything() const { return from.empty() && to.empty(); }
  [[nodiscard]] bool contains(uint32_t slot) const;
};

struct SegmentState {
  uint32_t number = 0;
  bool is_finished = false;          ///< all of it was given out, and no more will come
  bool is_revived = false;           ///< it was finished once; then its writer turned out to be alive
  uint32_t first_slot = 0;           ///< of run 0
  std::vector<uint8_t> consumed;     ///< slots given out, by run; empty when finished
  uint32_t first_untouched_run = 0;  ///< no slot of it, nor of those behind it, was seen
  uint32_t events = 0;
  uint64_t kinds = 0;
  TimeBounds times;                        ///< of what was given out
  std::vector<Loss> losses;                ///< stated so far, while it is not finished
  std::shared_ptr<const NameTable> names;  ///< while it is not finished

  [[nodiscard]] SlotWindow given_out() const;
};

/// What became available.
struct FreshPart {
  uint32_t number = 0;
  bool is_sealed = false;  ///< read it from the sealed file, `window` of it
  SlotWindow window;
  int64_t after_boot_ns = std::numeric_limits<int64_t>::min();  ///< of that, what was recorded later
  uint32_t count = 0;                                           ///< at most so many events
  std::vector<StoredEvent> events;                              ///< from a live file
  std::shared_ptr<const NameTable> names;
  TimeBounds times;
};

class JournalFile {
 public:
  struct Facts {
    std::optional<LiveHeader> header;  ///< nothing while no segment with a header was seen
    ClockPair pulse;                   ///< the latest clock pair; before there is one, the header's
    CounterValues counters;
    std::vector<ClockStep> clock_steps;
    struct JobStart {
      int64_t boot_ns = 0;
      uint32_t segment = 0;
      uint32_t slot = 0;
    };
    std::vector<JobStart> job_starts;  ///< in the order of the log
    int64_t last_event_boot_ns = 0;
    bool is_dead = false;
    std::string refused;  ///< not empty: it is of a newer format version, and this says so
  };

  explicit JournalFile(std::array<uint8_t, 16> id) : id_(id) {}

  /// Appends what is new to `fresh`. Fails only where the journal's folder cannot be read at all.
  Status refresh(Directory& run_folder, const Observer& observer, Decompressor& decompressor,
                 std::vector<FreshPart>& fresh);

  /// Of a journal that has ended: looks whether its folder changed since, as when its process had only been stopped. If
  /// so, it has not ended, and the next refresh() takes what was recorded since.
  void look_again(Directory& run_folder, const Observer& observer);

  [[nodiscard]] const std::array<uint8_t, 16>& id() const { return id_; }
  [[nodiscard]] const Facts& facts() const { return facts_; }
  /// Of everything that was given out, each reason once; missing numbers once the journal has ended.
  [[nodiscard]] std::vector<Loss> losses() const;
  [[nodiscard]] const std::vector<SegmentState>& segments() const { return segments_; }
  /// Bit k: events of kind k are given out. Of ranks other than 0 only checkpoint statistics are.
  [[nodiscard]] uint64_t wanted_kinds() const { return wanted_kinds_; }
  /// Its process is dead and everything was given out: refresh() has nothing left to do.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// Not all of its segments had been sealed when they were read.
  [[nodiscard]] bool has_live_files() const { return has_live_files_; }
  /// Somebody sealed them of whom no process will write again.
  void note_sealed(int64_t folder_modified_ns) {
    has_live_files_ = false;
    folder_modified_ns_ = folder_modified_ns;
  }
  /// Of its folder when that was listed last.
  [[nodiscard]] int64_t folder_modified_ns() const { return folder_modified_ns_; }
  /// Found while reading a part: a block of `events` did not check.
  void add_loss(const Loss& loss) { goodput::journal::add_loss(losses_, loss); }

 private:
  friend class CursorCodec;

  Status find_segments(Directory& folder);
  void add_segment(uint32_t number);
  bool probe_behind(Directory& folder);
  void probe_between(Directory& folder, uint32_t reach);
  void refresh_segment(Directory& folder, SegmentState& segment, bool final, Decompressor& decompressor,
                       std::vector<FreshPart>& fresh);
  bool follow_live(const File& file, SegmentState& segment, std::vector<FreshPart>& fresh);
  static void find_touched_runs(const File& file, const LiveLayout& layout, SegmentState& segment);
  void follow_run(const File& file, const LiveLayout& layout, uint32_t seed, uint32_t run, SegmentState& segment,
                  std::vector<StoredEvent>& events) const;
  bool finish_live(const File& file, SegmentState& segment, std::vector<FreshPart>& fresh);
  bool finish_sealed(Directory& folder, SegmentState& segment, bool final, Decompressor& decompressor,
                     std::vector<FreshPart>& fresh);
  void give_out(SegmentState& segment, std::vector<StoredEvent> events, std::shared_ptr<const NameTable> names,
                std::vector<FreshPart>& fresh);
  void note_front(const Segment& front);
  void set_header(const LiveHeader& header);
  void note_job_starts(std::span<const StoredEvent> events, uint32_t number);
  void finish(SegmentState& segment, std::vector<Loss> losses, const LaneExtents& lanes);
  [[nodiscard]] int64_t horizon_ns() const;
  [[nodiscard]] SegmentHint hint(const SegmentState& segment) const { return {id_, segment.number}; }

  std::array<uint8_t, 16> id_;
  uint64_t wanted_kinds_ = ~uint64_t{0};
  Facts facts_;
  Observer observer_;                   // of the refresh under way
  std::vector<SegmentState> segments_;  // by number
  size_t first_unfinished_ = 0;
  LaneExtents lanes_;         // of finished segments
  std::vector<Loss> losses_;  // of finished segments, and what was found while they were read
  bool has_ended_ = false;
  bool has_live_files_ = false;
  bool was_listed_ = false;
  int64_t folder_modified_ns_ = 0;                               // when it was listed last
  int64_t ended_boot_ns_ = std::numeric_limits<int64_t>::min();  // its last event when it was taken for dead
};

}  // namespace goodput::journal
