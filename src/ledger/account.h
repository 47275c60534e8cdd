// What a region amounts to once it is known which of its steps were done again: the result of partition.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ledger/fold_state.h"
#include "ledger/limits.h"
#include "ledger/region.h"
#include "ledger/totals.h"

namespace goodput::ledger {

/// The first few steady intervals, of which a mean is made where nothing earlier serves (rule 9).
struct FirstSteady {
  std::array<StepTime, kLaterIntervals> times;
  uint8_t size = 0;

  void push(const StepTime& time) {
    if (size < times.size()) times[size++] = time;
  }
  void push(const FirstSteady& more) {
    for (uint8_t i = 0; i < more.size; ++i) push(more.times[i]);
  }
  [[nodiscard]] bool full() const { return size == times.size(); }
  friend bool operator==(const FirstSteady& a, const FirstSteady& b) {
    return a.size == b.size && std::equal(a.times.begin(), a.times.begin() + a.size, b.times.begin());
  }
};

/// What a region must be told of the rest of the job.
struct Surroundings {
  int64_t resume_step = kNoStep;  ///< the lowest first step of the segments after it
  StepSums steady_before;         ///< all steady intervals before it
  FirstSteady later;              ///< the first steady intervals after it
  FirstSteady later_other;        ///< the same without those of the segment that runs on beyond its end
  StepSums running_after;         ///< preserved steady intervals, after it, of the segment that runs on
  bool with_step_keys = false;    ///< whether to list the steps that the step times are of
  bool running_excess = false;    ///< whether to take the running segment's start-up time out (else it is left to do)
};

/// A segment's part in a region, for rule 9.
struct SegmentPart {
  StepSums warmup;  ///< fully preserved warm-up intervals
  StepSums steady;  ///< fully preserved steady ones
  void add(const SegmentPart& other) {
    warmup.add(other.warmup);
    steady.add(other.steady);
  }
  friend bool operator==(const SegmentPart&, const SegmentPart&) = default;
};

struct Waste {
  int64_t ns = 0;
  int64_t steps = 0;
};

struct DisruptionFacts {
  bool rollback = false;
  int64_t ns = 0;        ///< death, or the last step record before a rollback
  uint32_t attempt = 0;  ///< which of the region's attempts it began, or happened in
  bool completed_end = false;
  std::optional<int64_t> last_step, resume_step;
  std::optional<Annotation> annotation;
  std::optional<Exit> exit;
  int64_t stalled_ns = 0;
  int64_t recovery_ns = 0;
  Totals recovery;                  ///< by class, as far as the region shows it
  bool waiting = false;             ///< no step record followed in the region
  bool carries_waste = true;        ///< of several restarts without a step between them the first
  Waste waste;                      ///< what it turned into waste in the region
  int64_t resume_before = kNoStep;  ///< lowest first step of the region's segments before the one that it led to
};

struct AttemptFacts {
  Totals totals;       ///< from its start to its death
  int64_t end_ns = 0;  ///< its death (rule 3 may put it later than the last sign of life)
  std::optional<int64_t> last_step;
};

struct RegionAccount {
  Totals totals;
  int64_t disruptions = 0;
  int64_t planned = 0;  ///< of these
  int64_t max_productive_step = 0;
  int64_t preserved_steps = 0;  ///< of intervals
  int64_t tail_steps = 0;       ///< preserved steps that only an attempt's end or a resume step tells of
  Region::Sum overlapped_loads_ns = 0;
  StepSums steady;                      ///< all steady intervals, wasted or not
  FirstSteady first_steady;             ///< of segments that begin here
  FirstSteady first_continued;          ///< of the segment that it goes on with
  SegmentPart entering;                 ///< the segment that it goes on with
  SegmentPart leaving;                  ///< the segment that runs on, when that begins here
  StepSums running_steady;              ///< steady intervals here, wasted or not, of the segment that runs on
  bool one_segment = false;             ///< the segment that it goes on with is the one that runs on
  bool runs_on = false;                 ///< a segment runs on beyond its end
  int64_t lowest_first_step = kNoStep;  ///< of segments that begin here
  int64_t highest_step = std::numeric_limits<int64_t>::min();  ///< of any record
  bool open_tail = false;       ///< its last segment ended its attempt: later segments say what became of the last step
  int64_t sensitive_below = 0;  ///< a resume step below this changes the account; see is_sensitive
  bool is_sensitive = false;
  bool stalled_at_end = false;  ///< the step in flight at the region's end is stalled
  bool used_steady_before = false;
  bool used_later = false;
  std::optional<StepRecord> first_record;  ///< of the first segment that begins here
  Totals lead;                             ///< before first_record, or all
  std::vector<StepTime> interval_times;    ///< of intervals not wholly wasted, in step order
  std::vector<int64_t> step_keys;          ///< their first steps, where asked for
  std::vector<AttemptFacts> attempts;
  std::vector<DisruptionFacts> disruption_facts;
};

}  // namespace goodput::ledger
