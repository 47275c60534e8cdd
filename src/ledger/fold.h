// Reads events in order and makes a Region of them: attempts, segments, pairs of starts and ends, second writers.
//
//   Fold fold(state, names, order);
//   for (const auto& [key, event] : events) fold.add(event, key);
//   if (fold.can_cut()) fold.cut();              // everything so far: a region; what follows only decides it
//   … more add() until fold.settled() …
//   Region region = fold.take();  FoldState next = fold.cut_state();
//
// Rules 6 and 7 and "Reading a log" of docs/semantics.md, apart from redeliveries and clocks (intake.h). Pure; one
// thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "event/event.h"
#include "ledger/fold_state.h"
#include "ledger/key.h"
#include "ledger/log_order.h"
#include "ledger/names.h"
#include "ledger/region.h"

namespace goodput::ledger {

class Fold {
 public:
  /// Goes on from `state`, whose judged part it hands through untouched. `names` and `order` (which
  /// attempts there are) must outlive the fold.
  Fold(const FoldState& state, Names& names, const LogOrder& order);

  /// The next event in the order of Key.
  void add(const event::Event& event, const Key& key);

  /// Whether a region may end right after the event added last: at a step record that has eight intervals of its
  /// segment behind it or begins a segment after a rollback, at the opening of an attempt, or before the attempt's
  /// first step record while no event is open.
  [[nodiscard]] bool can_cut() const { return can_cut_; }

  /// Ends the region here. At most once; add() goes on, to settle it.
  void cut();
  [[nodiscard]] bool is_cut() const { return cut_.has_value(); }

  /// After cut(): whether the fate of all that was open there is known.
  [[nodiscard]] bool settled() const { return open_at_cut_ == 0; }
  [[nodiscard]] int64_t last_ns() const { return last_ns_; }
  [[nodiscard]] bool anything_open() const { return !open_.empty(); }
  [[nodiscard]] int64_t events() const { return region_.events; }

  /// The state at the cut (judged part as the fold began).
  [[nodiscard]] const FoldState& cut_state() const { return *cut_; }

  /// Ends the log here: the last attempt is closed as of `now_ns`, with `dead_after_ns` (0: never dead by silence).
  /// `last_event_ns`: the latest event end of earlier regions. Returns the job's end T1.
  int64_t close(int64_t now_ns, int64_t dead_after_ns, int64_t last_event_ns);

  /// The region, once: after cut() and settled(), or after close().
  [[nodiscard]] Region take();

 private:
  struct Counted {
    Region::Sum overlapped_loads_ns = 0;
    Findings findings{};
    int64_t events = 0;
    int64_t last_event_ns = kNoTime;
    size_t slices = 0;
  };

  void on_step(const event::Event& event, int64_t ns);
  void on_job_start(const event::Event& event, int64_t ns);
  void on_start(const event::Event& event, int64_t ns);
  void on_end(const event::Event& event, int64_t ns);
  void on_exit(const event::Event& event, int64_t ns);
  void on_disruption(const event::Event& event, int64_t ns);
  bool belongs(const event::Event& event, const Key& key);
  bool is_second_writer(int64_t step, int64_t ns) const;
  void open_attempt(const event::Event& event, int64_t ns, bool by_job_start);
  void close_attempt(int64_t death_limit_ns);
  void end_claims(int64_t closing_ns);
  void decide_loads(bool rolled_back);
  void forget_old_starts();
  void drop_open(size_t index);
  void claim(const OpenEvent& open, int64_t end_ns);
  [[nodiscard]] bool in_attempt() const { return !region_.attempts.empty(); }
  AttemptSpan& current() { return region_.attempts.back(); }
  [[nodiscard]] bool has_records() const { return region_.records.size() > attempt_records_; }

  Names& names_;
  const LogOrder& order_;
  const event::Origin* own_origin_ = nullptr;  ///< whose events are known to belong to the current attempt
  Region region_;
  std::vector<OpenEvent> open_;
  std::vector<Claim> undecided_;  ///< closed loads since the last step record
  std::optional<SliceCounts> slices_;
  std::optional<Annotation> annotation_;
  std::optional<StepRecord> last_record_;
  std::vector<StepTime> typical_;
  StepSums segment_steady_;
  std::optional<FoldState> cut_;
  Counted counted_at_cut_;

  size_t attempt_records_ = 0;     ///< index of the attempt's first record still at hand
  size_t records_at_elastic_ = 0;  ///< number of records when the latest elastic entry came
  int64_t spacing_ns_ = 0;
  int64_t previous_segment_ns_ = kNoTime;
  int64_t segment_first_step_ = 0;
  uint32_t segment_intervals_ = 0;
  uint32_t sequence_ = 0;
  uint32_t open_at_cut_ = 0;
  int64_t last_ns_ = kNoTime;
  bool can_cut_ = false;
};

}  // namespace goodput::ledger
