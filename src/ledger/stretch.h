// A settled part of a job: what it amounts to, and how to go on after it. A ledger keeps at most 512 of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/account.h"
#include "ledger/key.h"
#include "ledger/slices.h"

namespace goodput::ledger {

/// One attempt as far as a stretch (or the tail) shows it.
struct AttemptEntry {
  bool continues = false;  ///< it is the last attempt of what lies before
  bool ended = false;      ///< its end, or the job's, lies before what follows
  bool dead = false;       ///< no process of it is alive: another attempt followed, or it is known to have died
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  AttemptState state;  ///< as of the end of what shows it
  std::optional<int64_t> last_step;
  Totals totals;
};

struct DisruptionEntry {
  DisruptionFacts facts;        ///< `attempt`: how many attempts had begun in the stretch (or tail), this one included
  bool waste_is_stale = false;  ///< stretches were joined since: facts.waste must be read back
  std::optional<Waste> waste;   ///< all that it wasted, once asked for
};

struct Stretch {
  Key end_key;           ///< of its last event
  Key settled_key;       ///< of the event that decided the last of what was open at its end
  int64_t begin_ns = 0;  ///< the end of the one before; of the first the job's start
  int64_t end_ns = 0;
  std::string end_state;  ///< FoldState, encoded

  // What it amounts to, given that the job went on at `resume_step` at the lowest.
  int64_t resume_step = kNoStep;
  Totals totals;
  int64_t disruptions = 0;
  int64_t planned = 0;
  int64_t unlisted_recovered = 0;    ///< disruptions no longer listed that were recovered from
  int64_t unlisted_recovery_ns = 0;  ///< and how long that took
  int64_t attempts_begun = 0;
  int64_t max_productive_step = 0;
  int64_t preserved_steps = 0;
  Region::Sum overlapped_loads_ns = 0;
  SegmentPart entering, leaving;
  StepSums running_steady;  ///< steady intervals here, wasted or not, of the segment that runs on
  bool one_segment = false;
  bool runs_on = false;
  bool is_sensitive = false;
  int64_t sensitive_below = 0;
  std::optional<StepRecord> first_record;
  Totals lead;
  int64_t step_times = 0;
  bool is_counted = true;  ///< whether the ledger's bins hold its step times (as of resume_step)
  std::optional<std::vector<StepTime>> interval_times;  ///< kept where they are likely to be asked for
  bool used_steady_before = false;
  StepSums steady_before;  ///< as it was used
  bool used_later = false;
  FirstSteady later, later_other;  ///< as they were used
  bool is_stale = false;           ///< must be read back before it is used

  // What no later event changes.
  StepSums steady;
  FirstSteady first_steady, first_continued;
  int64_t lowest_first_step = kNoStep;
  int64_t highest_step = std::numeric_limits<int64_t>::min();
  bool open_tail = false;
  SliceSums slices;
  Findings findings{};
  int64_t events = 0;
  int64_t last_event_ns = kNoTime;

  std::vector<AttemptEntry> attempts;  ///< the latest of the job's latest 1,000
  std::vector<DisruptionEntry> disruption_entries;
};

/// Takes over what an account says, as given `around`.
void adopt(Stretch& stretch, RegionAccount&& account, const Surroundings& around, const Region& region);

/// Whether `first` is accounted as `second` and what `second` knows of later segments demand.
[[nodiscard]] bool agree(const Stretch& first, const Stretch& second);

/// Makes one of two neighbours. Whatever cannot be joined exactly is marked to be read back.
void join(Stretch& first, Stretch&& second);

/// The entries of a region's attempts.
[[nodiscard]] std::vector<AttemptEntry> attempt_entries(const Region& region, const RegionAccount& account);

/// Appends, joining an attempt that continues the last one of `out`.
void append_attempts(std::vector<AttemptEntry>& out, std::vector<AttemptEntry>&& more);

}  // namespace goodput::ledger
