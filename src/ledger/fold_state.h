// Everything that the past of a job still says about its future at one point of the log: what a fold goes on from.
//
// Two folds that reach one point with equal states go on alike, whatever lay before: so a re-fold after a late event
// ends where its state equals the one kept there, and a ledger keeps states at the boundaries of its stretches only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/event.h"
#include "ledger/time_class.h"
#include "ledger/totals.h"

namespace goodput::ledger {

constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kNoStep = std::numeric_limits<int64_t>::max();

struct StepRecord {
  int64_t step = 0;
  int64_t ns = 0;
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

/// One value of a typical step time: unowned time over steps.
struct StepTime {
  int64_t ns = 0;
  int64_t steps = 1;
  friend bool operator==(const StepTime&, const StepTime&) = default;
};

/// Whether a load counts as blocking (rule 7): known at once, or when the next step record comes.
enum class LoadKind : uint8_t { kNotLoad, kUndecided, kSync, kAsync };

/// A start without an end yet.
struct OpenEvent {
  event::Kind kind = event::Kind::kNone;  ///< the start kind
  uint64_t name = 0;  ///< identity of a custom event's upper-cased name or an elastic wait's raw type
  int64_t start_ns = 0;
  TimeClass time_class = TimeClass::kOther;
  LoadKind load = LoadKind::kNotLoad;
  uint16_t custom = 0;
  uint32_t records_since = 0;  ///< step records of the attempt after it
  uint32_t sequence = 0;       ///< order among events of one fold; not part of the state's identity

  friend bool operator==(const OpenEvent& a, const OpenEvent& b) {
    return a.kind == b.kind && a.name == b.name && a.start_ns == b.start_ns && a.time_class == b.time_class &&
           a.load == b.load && a.custom == b.custom && a.records_since == b.records_since;
  }
};

/// An interval that an event owns and that reaches beyond the point of the state.
struct HeldInterval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  TimeClass time_class = TimeClass::kOther;
  uint16_t custom = 0;
  friend bool operator==(const HeldInterval&, const HeldInterval&) = default;
};

/// What was written about a disruption between the last step record and the restart.
struct Annotation {
  int64_t ns = kNoTime;
  std::string cause;
  std::string text;
  std::string source;  ///< user, launcher or platform
  bool planned = false;
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

struct Exit {
  int64_t ns = 0;
  int32_t value = 0;
  uint8_t flags = 0;
  friend bool operator==(const Exit&, const Exit&) = default;
};

struct AttemptState {
  int64_t start_ns = 0;
  int64_t opened_ns = kNoTime;  ///< its job start; kNoTime while there was none
  int64_t last_ns = 0;          ///< end of its latest event
  std::optional<int64_t> completed_ns, failed_ns;
  std::optional<Exit> exit, exit_zero;
  int64_t last_heartbeat_ns = kNoTime;
  std::optional<int64_t> first_step;
  std::string id;
  std::string host;
  friend bool operator==(const AttemptState&, const AttemptState&) = default;
};

struct SliceCounts {
  int64_t active = 0, total = 0, available = 0;
  friend bool operator==(const SliceCounts&, const SliceCounts&) = default;
};

struct FoldState {
  int64_t begin_ns = kNoTime;  ///< the instant of the boundary
  std::optional<AttemptState> attempt;

  // The attempt's step records within the second writer's reach; the last is the step in flight.
  std::vector<StepRecord> recent;
  uint32_t records_since_elastic = 0;  ///< of `recent`, those after the latest elastic entry
  int64_t spacing_ns = 0;              ///< the segment's last step interval
  int64_t previous_segment_ns = kNoTime;
  uint32_t segment_intervals = 0;  ///< of the running segment, counted to kSettledIntervals
  int64_t segment_first_step = 0;

  std::optional<StepRecord> last_record;  ///< the job's latest step record, of whichever attempt

  std::vector<OpenEvent> open;
  std::vector<HeldInterval> held;
  std::optional<SliceCounts> slices;
  std::optional<Annotation> annotation;

  // Judged (as if nothing were wasted).
  std::vector<StepTime> typical;  ///< oldest first
  StepSums segment_steady;        ///< of the running segment, wasted or not

  friend bool operator==(const FoldState&, const FoldState&) = default;

  [[nodiscard]] std::string encode() const;
  static bool decode(std::span<const std::byte>& in, FoldState& out);
};

}  // namespace goodput::ledger
