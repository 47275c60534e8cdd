// The workings of a Ledger: settled stretches, the unsettled tail, and how they are kept in step.
//
// Totals of a stretch are a function of its events and of its Surroundings (where the job resumed later, the means and
// segments around it). prepare() works the surroundings out from the last stretch to the first and reads back the few
// stretches for which they changed; what arrives late is folded in first (refold.cc).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/log_order.h"
#include "ledger/names.h"
#include "ledger/owned_event.h"
#include "ledger/replay.h"
#include "ledger/stretch.h"

namespace goodput::ledger {

class Ledger::Engine {
 public:
  Engine(const Options& options, event::Source& source) : options_(options), source_(source) {}

  void push(std::span<const event::Event> events);
  Result<Overview> overview(int64_t now_ns);
  Result<AccountedSpan> account(int64_t now_ns, const Span& span);
  Result<std::vector<Totals>> timeline(int64_t now_ns, size_t buckets);
  Result<std::optional<StepFigures>> step_figures(int64_t now_ns);
  Result<std::vector<AttemptAnswer>> attempts(int64_t now_ns);
  Result<std::vector<DisruptionAnswer>> disruptions(int64_t now_ns);
  Status step_times(int64_t now_ns, int64_t from_ns, FunctionRef<void(int64_t step, const StepTime& time)> visit);
  [[nodiscard]] std::string_view custom_name(uint16_t index) const { return names_.text(index); }
  [[nodiscard]] int64_t settled_before_ns() const;
  [[nodiscard]] std::string snapshot();
  bool restore(std::string_view snapshot);

 private:
  /// What is not settled, read for one answer time.
  struct Tail {
    int64_t now_ns;
    Replayed replayed;
    Surroundings around;
    RegionAccount account;
    [[nodiscard]] const Region& region() const { return replayed.region(); }
  };

  // engine.cc
  void insert(const event::Event& event, const Key& key);
  void note_too_late(int64_t ns);
  [[nodiscard]] bool is_in_dropped(int64_t ns) const;
  bool is_redelivery_in_tail(const event::Event& event, const Key& key, size_t at);
  void settle(size_t keep);
  bool take_in_bulk(const event::Event& event, const Key& key);
  void fold_in_bulk(const event::Event& event, const Key& key);
  void begin_bulk();
  void leave_bulk();
  void settle_at_cut(Fold& fold, const Key& end_key, const Key& settled_key);
  void add_stretch(Stretch&& stretch);
  void trim();
  void unlist_disruptions(size_t i, size_t left);
  void join_stretches();
  Status prepare(int64_t now_ns);
  Status fold_tail(int64_t now_ns);
  Status load_tail();
  Status read_on(LogOrder::Sink sink);
  Status refresh_stretches();
  [[nodiscard]] int64_t excess_of(size_t i) const;
  [[nodiscard]] Totals settled_totals(size_t i) const;
  Status rebuild();

  // refold.cc
  [[nodiscard]] FoldState state_before(size_t i) const;
  [[nodiscard]] Key key_before(size_t i) const { return i == 0 ? Key{} : stretches_[i - 1].end_key; }
  Result<Replayed> reread(size_t i, bool without_late = false);
  Status replay(size_t i, const Surroundings& around);
  void spread(Stretch& stretch, int64_t resume_step);
  [[nodiscard]] bool is_dropped(const Stretch& stretch) const { return stretch.begin_ns < source_.oldest_ns(); }
  Status refold();
  Status uncount(size_t i, bool without_late);
  Result<std::optional<Stretch>> fold_stretch(const FoldState& state, const Key& after, const Key& end_key,
                                              FoldState& end);

  // answers.cc
  Result<Waste> earlier_waste(size_t end, int64_t resume_step, int64_t resume_before);
  Result<Waste> waste_of(size_t stretch, size_t entry);
  Status account_edge(size_t i, std::span<const Interval> inside, int64_t from_ns, int64_t to_ns, AccountedSpan& out);
  Status gather_step_times(std::vector<StepTime>& all, size_t at_least);
  [[nodiscard]] int64_t start_ns() const;

  Options options_;
  event::Source& source_;
  LogOrder order_;
  Names names_;
  std::vector<Stretch> stretches_;
  std::vector<Surroundings> around_;    ///< of each stretch, as of the last prepare()
  Totals settled_totals_;               ///< sum over stretches
  StepTimeBins bins_;                   ///< step times of the stretches
  FoldState state_;                     ///< after the last stretch
  std::vector<OwnedEvent> tail_;        ///< after the last stretch, by key
  std::vector<Key> late_;               ///< arrived since the last answer for what is settled
  Key settled_key_;                     ///< the latest settled_key of the stretches
  std::optional<Fold> bulk_;            ///< reads on from the last stretch; the tail is not kept meanwhile
  Key bulk_key_;                        ///< of the event that it read last
  std::vector<uint64_t> bulk_instant_;  ///< payloads of that event's instant
  std::optional<Tail> prepared_;
  std::unordered_map<uint64_t, Waste> tail_waste_;  ///< of disruptions in the tail, by resume step and the one before
  int64_t too_late_ = 0;
  int64_t too_late_first_ns_ = kNoTime;
  size_t settle_at_ = 0;
  Key newest_key_;
  bool late_name_ = false;  ///< a custom event with a new name came late
  bool must_load_tail_ = false;
  bool must_rebuild_ = false;
};

}  // namespace goodput::ledger
