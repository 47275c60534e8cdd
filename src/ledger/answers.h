// What a ledger answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/names.h"
#include "ledger/quotient.h"
#include "ledger/region.h"
#include "ledger/slices.h"
#include "ledger/step_times.h"
#include "ledger/stretch.h"
#include "ledger/tally.h"
#include "ledger/totals.h"

namespace goodput::ledger {

/// A part of the job's time: [from, to) without `exclusions`.
struct Span {
  std::optional<int64_t> from_ns;  ///< the job's start
  std::optional<int64_t> to_ns;    ///< the job's end, or now
  std::vector<Interval> exclusions;
};

/// Accounted time of a Span: totals.sum() == elapsed_ns, always.
struct AccountedSpan {
  int64_t from_ns = 0, to_ns = 0;  ///< clipped to the job
  int64_t elapsed_ns = 0;
  Totals totals;
  int64_t disruptions = 0;  ///< by the time of death; exclusions take none away
  SliceSums slices;         ///< exclusions take none away
};

enum class JobState : uint8_t { kRunning, kStalled, kCompleted, kFailed, kDead };

struct AttemptAnswer {
  int64_t index = 0;
  AttemptEntry entry;
};

struct DisruptionAnswer {
  int64_t index = 0;
  int64_t attempt = 0;  ///< index of the attempt that it began, or happened in
  DisruptionFacts facts;
  Waste waste;  ///< all that it turned from preserved into wasted
};

/// The job as a whole.
struct Overview {
  int64_t start_ns = 0, end_ns = 0;  ///< T0 and T1
  JobState state = JobState::kRunning;
  AccountedSpan whole;
  int64_t attempts = 0;
  int64_t planned_disruptions = 0;
  int64_t unlisted_recovered = 0;    ///< disruptions older than those that disruptions() lists, recovered from
  int64_t unlisted_recovery_ns = 0;  ///< and how long that took
  int64_t max_productive_step = 0;
  std::optional<int64_t> last_step;
  int64_t preserved_steps = 0;
  Region::Sum overlapped_loads_ns = 0;
  std::optional<Quotient> typical_step_ns;
  Findings findings{};
  int64_t events = 0;
  std::optional<int64_t> coarse_before_ns;  ///< events before have been dropped: windows there are interpolated
};

}  // namespace goodput::ledger
