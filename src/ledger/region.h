// A part of a job's log after reading: attempts, step records, the intervals that events own. What the rules are read
// on.
//
// A Fold fills one from events in order. Everything up to `end_ns` is decided; records and intervals beyond it were
// read only to decide that. Step intervals and shares of wasted work come later (verdicts.h, partition.h): a region
// does not know which steps a later attempt did again. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/fold_state.h"
#include "ledger/time_class.h"

namespace goodput::ledger {

enum class FindingKind : uint8_t {
  kUnclosedEvent,
  kTwoWriters,
  kClockSkew,
  kOverlappingAttempts,
  kOpenEventsLimit,
  kNameReused,
  kTooLate,
  kMalformedEntry,
};
constexpr size_t kFindingKinds = 8;

struct FindingCount {
  int64_t count = 0;
  int64_t ns = 0;  ///< seconds concerned, where the finding has any
  int64_t first_ns = kNoTime;

  void add(int64_t at_ns, int64_t amount_ns = 0) {
    ++count;
    ns += amount_ns;
    if (first_ns == kNoTime || at_ns < first_ns) first_ns = at_ns;
  }
  void add(const FindingCount& other) {
    count += other.count;
    ns += other.ns;
    if (other.first_ns != kNoTime && (first_ns == kNoTime || other.first_ns < first_ns)) first_ns = other.first_ns;
  }
};
using Findings = std::array<FindingCount, kFindingKinds>;

/// Time that an event claims; of overlapping ones the innermost owns (ownership.h).
struct Claim {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t sequence = 0;  ///< order in the log of its start
  uint32_t attempt = 0;
  TimeClass time_class = TimeClass::kOther;
  uint16_t custom = 0;
};

/// A maximal run of increasing step numbers: records [begin, end) of the region.
struct Segment {
  uint32_t attempt = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct SliceRecord {
  int64_t ns = 0;
  SliceCounts counts;
};

struct AttemptSpan {
  int64_t start_ns = 0;
  bool continues = false;  ///< it began before the region
  bool closed = false;     ///< its end is known: another attempt followed, or this is the job's last one (reading ahead
                           ///< may close an attempt that runs on beyond the region: see ends_in())
  bool followed = false;   ///< another attempt follows, at next_start_ns
  bool dead = false;       ///< the last attempt, known to be dead
  int64_t death_ns = 0;
  int64_t next_start_ns = 0;
  uint32_t segment_begin = 0, segment_end = 0;
  AttemptState state;                                   ///< as of its end, or of the region's
  std::optional<Annotation> annotation;                 ///< since its last step record, at the time it ended
  std::vector<int64_t> step_ends_ns;                    ///< recorded ends of its last step, after that step's start
  std::vector<std::pair<int64_t, int64_t>> late_loads;  ///< overlapping loads, closed after the last step record
};

struct Region {
  int64_t begin_ns = kNoTime;
  int64_t end_ns = kNoTime;
  bool is_last = false;  ///< the job's end or now lies at end_ns
  std::vector<StepRecord> records;
  std::vector<Segment> segments;
  std::vector<std::pair<uint32_t, Annotation>> rollback_annotations;  ///< by the segment that a rollback led to
  std::vector<AttemptSpan> attempts;
  std::vector<Claim> claims;
  std::vector<SliceRecord> slices;
  std::optional<SliceCounts> slices_before;
  std::optional<StepRecord> record_before;  ///< the job's latest step record before the region
  uint32_t continued_intervals = 0;         ///< intervals that the first segment had before the region (counted to 8)
  bool continues_segment = false;           ///< the first segment began before the region
  int64_t continued_first_step = 0;         ///< and its first step

  /// Sizes at the end of the region; what lies beyond was read ahead.
  uint32_t records_end = 0, segments_end = 0, attempts_end = 0;

  /// Whether an attempt's end lies in the region.
  [[nodiscard]] bool ends_in(uint32_t attempt) const { return is_last || attempt + 1 < attempts_end; }

  __extension__ typedef __int128 Sum;
  Sum overlapped_loads_ns = 0;  ///< loads beside steps, but for late_loads
  Findings findings{};
  int64_t events = 0;
  int64_t last_event_ns = kNoTime;  ///< latest end of any event
};

}  // namespace goodput::ledger
