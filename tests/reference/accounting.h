// The project's own slow reading of docs/semantics.md, which the ledger is compared with.
//
// Obvious on purpose and unlike the ledger in every way that matters: it holds the whole log, sorts it once, judges
// every step interval, then cuts the wall clock at every boundary that any rule knows and asks for each piece which
// rule owns it. Times are exact fractions of a nanosecond. Only tests use it; a log of 400 events takes a few
// milliseconds.
//
//   std::optional<Accounting> job = account(events, {.now_ns = now});
//   Totals hour = totals(*job, now - 3600 * kSecond, now, {});
//   EXPECT_EQ(hour.elapsed_ns, sum(hour));
//   EXPECT_EQ(job->figures.disruptions, 1);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event.h"

namespace goodput::reference {

using Rational = boost::multiprecision::cpp_rational;
constexpr int64_t kSecond = event::kNanosecondsPerSecond;

struct Options {
  int64_t now_ns = 0;
  int64_t dead_after_ns = 60 * kSecond;
  Rational stall_factor = 10;             ///< 0 turns STALLED off
  int64_t stall_floor_ns = 60 * kSecond;  ///< 0 turns STALLED off
};

/// [start_ns, end_ns) belongs to one class. Pieces follow each other without gap from T0 to T1; neighbours differ.
struct Piece {
  Rational start_ns, end_ns;
  std::string_view class_name;  ///< as SEMANTICS names it: PRODUCTIVE, …, CUSTOM_BADPUT_EVENTS, …, OTHER
  std::string custom_name;      ///< upper-cased or (MORE); empty unless CUSTOM_BADPUT_EVENTS
};

struct Totals {
  Rational elapsed_ns;
  std::map<std::string, Rational> by_class_ns;  ///< only classes with time; custom events as CUSTOM_BADPUT_EVENTS too
  std::map<std::string, Rational> by_custom_name_ns;
};

enum class AttemptStatus : uint8_t { kRunning, kCompleted, kFailed, kDied };

struct AttemptRecord {
  std::string id;  ///< empty: the log does not say
  int64_t start_ns = 0;
  Rational end_ns;  ///< where INFRASTRUCTURE_RECOVERY begins: its death, or later by rule 3; T1 while it runs
  AttemptStatus status = AttemptStatus::kRunning;
  std::optional<int64_t> first_step, last_step;  ///< of its first and its last step record
  Totals totals;                                 ///< of [start_ns, end_ns)
};

/// A restart or a rollback. Restarts before the first step record after a death share that record's segment: the first
/// of them is charged with what the segment wasted, so that the wasted seconds of all records sum to WASTED_PROGRESS.
struct DisruptionRecord {
  bool rollback = false;
  int64_t time_ns = 0;   ///< death of the attempt that ended, or the last step record before a rollback
  int64_t attempt = 0;   ///< index of the attempt that a restart began or a rollback happened in
  bool planned = false;  ///< annotated so while the attempt that ended lived, or between it and its successor
  bool completed_end = false;
  std::optional<int64_t> last_step, resume_step;
  int64_t steps_wasted = 0;
  Rational wasted_ns;                                    ///< what became WASTED_PROGRESS as its new segment began
  Rational stalled_ns;                                   ///< STALLED between the last step record and the death
  std::optional<int64_t> recovery_ns;                    ///< until the first step record after it, where there is one
  std::map<std::string, Rational> recovery_by_class_ns;  ///< the partition of that time
};

struct Findings {
  int64_t malformed_entries = 0;  ///< checkpoint entries without a time before any time was seen
  int64_t redelivered_entries = 0;
  int64_t clock_skew = 0;  ///< attempts moved forward
  int64_t clock_skew_ns = 0;
  int64_t two_writers = 0;           ///< step records and job starts removed
  int64_t unclosed_events = 0;       ///< starts dropped because a later step record shows that they were over
  int64_t too_many_open_events = 0;  ///< starts ended because 4,096 were open
  int64_t overlapping_attempts = 0;  ///< attempts of which something was recorded after their successor began
};

struct SliceRecord {
  int64_t time_ns, active, total, available;
};

struct Figures {
  int64_t start_ns = 0, end_ns = 0;  ///< T0, T1
  int64_t disruptions = 0;
  int64_t max_productive_step = 0;
  std::optional<int64_t> last_step;          ///< of the latest step record
  std::map<int64_t, Rational> step_time_ns;  ///< by first step number of the interval
  std::optional<Rational> typical_step_time_ns, ideal_step_time_ns, step_time_deviation_ns;
  std::optional<Rational> ideal_goodput;  ///< a fraction, not percent
  Rational async_data_loading_ns;
};

struct Accounting {
  std::vector<Piece> pieces;
  Figures figures;
  std::vector<AttemptRecord> attempts;
  std::vector<DisruptionRecord> disruptions;
  std::vector<SliceRecord> slices;  ///< in time order
  Findings findings;
};

/// Events in any order; their positions are the order of the log. Empty when no event of them opens an attempt.
std::optional<Accounting> account(std::span<const event::Event> events, const Options& options);

using Intervals = std::vector<std::pair<int64_t, int64_t>>;

/// The partition clipped to [max(from, T0), min(to, T1)), less the union of `exclusions`.
Totals totals(const Accounting& job, const Rational& from_ns, const Rational& to_ns, const Intervals& exclusions);

struct SliceEfficiency {
  Rational stepping, available;
};
/// Empty where no slice record is known in [max(from, T0), min(to, T1)).
std::optional<SliceEfficiency> slice_efficiency(const Accounting& job, int64_t from_ns, int64_t to_ns);

/// All classes together: equal to elapsed_ns whatever the log says.
Rational sum(const Totals& totals);

}  // namespace goodput::reference
