// Reading a log: which entries count, and when they happened once clocks that were behind are set right.
//
// The position in the log belongs to the event, so events may arrive in any order. place() answers at once for what
// arrives in the order of the log, or late without consequences; where an arrival could change the place of events
// before it, must_rebuild() says so, and rebuild() looks at the whole log again.
//
//   std::optional<Key> key = order.place(event);
//   if (order.must_rebuild()) RETURN_IF_ERROR(order.rebuild(source));
//   order.read(source, after, to_ns, [](const Key&, const event::Event&) { … return true; });
//
// Rules: "Reading a log" in docs/semantics.md (redeliveries, clock behind, entries without a start, ranks, hosts'
// shifts). Memory follows the number of job starts, not of events. Pure but for the Source. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "event/event.h"
#include "event/source.h"
#include "ledger/key.h"
#include "ledger/owned_event.h"
#include "ledger/region.h"

namespace goodput::ledger {

class LogOrder {
 public:
  using Sink = FunctionRef<bool(const Key&, const event::Event&)>;

  /// Where a newly arrived event stands. Empty: it does not count (another rank's, a second delivery, malformed).
  std::optional<Key> place(const event::Event& event) {
    return goes_fast(event) ? std::optional<Key>(place_fast(event)) : place_any(event);
  }
  /// Whether the event comes as most do, after all others of the attempt that is under way: place_fast() is then
  /// place().
  [[nodiscard]] bool goes_fast(const event::Event& event) const {
    return event.origin == fast_origin_ && is_fast_ && event.position > last_position_ &&
           event.time_ns >= fast_from_ns_ && event.kind != event::Kind::kJobStart &&
           event.kind != event::Kind::kDisruption && !event.has(event::kUntimed);
  }
  Key place_fast(const event::Event& event) {
    last_position_ = event.position;
    raw_low_ns_ = std::min(raw_low_ns_, event.time_ns);
    raw_high_ns_ = std::max(raw_high_ns_, event.time_ns);
    high_ns_ = std::max(high_ns_, event.time_ns);
    if (fast_labelled_ != nullptr) fast_labelled_->note_alive(event);
    return {event.time_ns, 0, 1, event.position};
  }

  [[nodiscard]] bool must_rebuild() const { return must_rebuild_; }
  Status rebuild(event::Source& source);

  /// The events with after < key and key.ns ≤ to_ns in the order of Key, each once, until `sink` returns false; as if
  /// those of the keys `without` had never come.
  Status read(event::Source& source, const Key& after, int64_t to_ns, Sink sink,
              const std::set<Key>& without = {}) const;

  /// The findings for attempts that were moved, and for those that recorded on after their successor began.
  [[nodiscard]] FindingCount clock_skew() const;
  [[nodiscard]] FindingCount overlapping_attempts() const;
  /// Entries without a time of their own, before any that has one: malformed.
  [[nodiscard]] FindingCount unplaced_entries() const;

  /// Of an attempt known by its id: the key of its first event (the event that opens it); empty for an unknown one.
  [[nodiscard]] std::optional<Key> opening_of(std::string_view id) const;
  /// Whether an attempt lived on after its successor began: its death is then that moment.
  [[nodiscard]] bool outlives_successor(std::string_view id) const;

  /// For snapshots (codec.h): everything but what only places new arrivals cheaply.
  template <typename Archive>
  void visit_fields(Archive& archive);

 private:
  /// A job start without attempt id, or an entry without a start: what depends on all that stands before it in the log.
  struct Marker {
    event::Position position;
    uint64_t fingerprint = 0;
    int64_t ns = 0;  ///< its own time; of an untimed entry where it was put
    int64_t shift_ns = 0;
    int64_t high_ns = std::numeric_limits<int64_t>::min();  ///< latest time before it in the log (at least)
    bool untimed = false;
  };
  /// An attempt whose events carry its id.
  struct Labelled {
    std::string id;
    std::string host;
    int64_t first_ns = 0;
    event::Position first_position;
    bool first_is_start = false;
    int64_t last_ns = std::numeric_limits<int64_t>::min();  ///< its last sign of life
    event::Position last_position;
    bool outlives = false;  ///< … after its successor began
    int64_t last_step_ns = std::numeric_limits<int64_t>::min();
    int64_t shift_ns = 0;

    void note_alive(const event::Event& event) {
      if (event.time_ns > last_ns || (event.time_ns == last_ns && event.position > last_position)) {
        last_ns = event.time_ns;
        last_position = event.position;
      }
      const bool tells = event.kind == event::Kind::kStepStart || event.kind == event::Kind::kJobEnd;
      if (tells && event.time_ns > last_step_ns) last_step_ns = event.time_ns;
    }
  };

  std::optional<Key> place_any(const event::Event& event);
  std::optional<Key> place_slowly(const event::Event& event);
  std::optional<Key> place_labelled(const event::Event& event);
  std::optional<Key> place_job_start(const event::Event& event, bool in_order);
  std::optional<Key> place_untimed(const event::Event& event, bool in_order);
  void raise_markers_after(const event::Position& position, int64_t ns);
  [[nodiscard]] std::optional<Key> key_of(const event::Event& event) const;
  [[nodiscard]] int64_t shift_at(const event::Position& position) const;
  [[nodiscard]] size_t markers_before(const event::Position& position) const;

  [[nodiscard]] Labelled* find_labelled(const event::Event& event);
  void note_labelled(const event::Event& event);
  Labelled* add_labelled(const event::Event& event);
  void note_outliving(Labelled& attempt);
  [[nodiscard]] static bool opens_before(const event::Event& event, const Labelled& attempt);
  [[nodiscard]] bool is_surely_last(const Labelled& attempt) const;
  [[nodiscard]] const Labelled* successor_of(const Labelled& attempt) const;
  [[nodiscard]] static Key opening_key(const Labelled& attempt);
  void add_shift(int64_t shift_ns);
  [[nodiscard]] int64_t host_shift(size_t by_start) const;
  [[nodiscard]] static Key labelled_key(const event::Event& event, const Labelled* attempt);

  Status find_starts(event::Source& source);
  Status find_highs(event::Source& source, std::vector<int64_t>& plain, std::vector<int64_t>& labelled);
  Status find_redeliveries(event::Source& source);
  void shift_markers(const std::vector<int64_t>& plain, const std::vector<int64_t>& labelled);
  Status read_unshifted(event::Source& source, const Key& after, int64_t to_ns, Sink sink,
                        const std::set<Key>& without) const;
  Status read_shifted(event::Source& source, const Key& after, int64_t to_ns, Sink sink,
                      const std::set<Key>& without) const;
  Status collect(event::Source& source, int64_t from_ns, int64_t to_ns, const std::set<Key>& without,
                 std::vector<OwnedEvent>& out) const;

  std::vector<Marker> markers_;                      ///< by position
  std::vector<std::unique_ptr<Labelled>> labelled_;  ///< by first_ns
  std::unordered_map<std::string, Labelled*> labelled_by_id_;
  std::map<std::string, std::pair<int64_t, event::Position>> unopened_;  ///< liveness of attempts not seen otherwise
  const event::Origin* last_origin_ = nullptr;
  Labelled* last_labelled_ = nullptr;
  std::vector<int64_t> shifts_{0};       ///< all that occur, ascending
  std::vector<OwnedEvent> untimed_log_;  ///< all entries without a time of their own
  std::vector<OwnedEvent> untimed_;      ///< those of them that count, with a time, by key
  std::set<event::Position> dropped_;    ///< second deliveries that stand in attempts moved differently

  bool any_ = false;
  event::Position last_position_;
  int64_t raw_low_ns_ = std::numeric_limits<int64_t>::max();
  int64_t raw_high_ns_ = std::numeric_limits<int64_t>::min();
  int64_t high_ns_ = std::numeric_limits<int64_t>::min();  ///< latest time after corrections
  bool must_rebuild_ = false;

  // What the next event of the same origin does not have to be asked for again.
  bool is_fast_ = false;
  const event::Origin* fast_origin_ = nullptr;
  Labelled* fast_labelled_ = nullptr;
  int64_t fast_from_ns_ = 0;
};

}  // namespace goodput::ledger
