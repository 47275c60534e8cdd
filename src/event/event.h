// What can happen in a job: one Event, what it carries, and the order in which events stand.
//
// An Event is plain data that its producer owns (a journal, a log being imported): names and details are views, valid
// as long as the producer says. Times are integer nanoseconds of wall clock since the epoch, durations nanoseconds.
//
//   Event step{.time_ns = now, .position = {0, 17}, .step = 120, .kind = Kind::kStepStart};
//
// docs/formats/event.md gives the JSON form; docs/semantics.md says what each kind means for the accounting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>

namespace goodput::event {

/// Stored in journals: never renumber, only add. Of a pair the start is odd and its end the next number.
enum class Kind : uint8_t {
  kNone = 0,
  kJobStart = 1,
  kJobEnd = 2,  ///< flag kFailed: the attempt ended by an exception
  kStepStart = 3,
  kStepEnd = 4,  ///< host-side end of a step
  kAcceleratorInitStart = 5,
  kAcceleratorInitEnd = 6,
  kTrainingPrepStart = 7,
  kTrainingPrepEnd = 8,
  kDataLoadingStart = 9,  ///< flag kBlocking: this load blocks training
  kDataLoadingEnd = 10,
  kCheckpointSaveStart = 11,  ///< blocking part of a save; step and location where known
  kCheckpointSaveEnd = 12,
  kCheckpointRestoreStart = 13,
  kCheckpointRestoreEnd = 14,
  kCustomStart = 15,  ///< name = the user's type, as written
  kCustomEnd = 16,
  kCompilationStart = 17,
  kCompilationEnd = 18,
  kElasticWaitStart = 19,  ///< name = the raw elastic type ("unknown" when there was none)
  kElasticWaitEnd = 20,
  kElasticReinitStart = 21,
  kElasticReinitEnd = 22,
  kCheckpointSave = 23,     ///< Orbax-style statistics of a whole save: time_ns + duration_ns
  kCheckpointRestore = 24,  ///< the same of a restore; flag kEmergency
  kSliceCounts = 25,
  kHeartbeat = 26,
  kProcessExit = 27,  ///< seen by a launcher or monitor; exit code or (flag kSignal) signal in `exit_value`
  kDisruption = 28,   ///< annotation: cause and detail
};
constexpr Kind kLastKind = Kind::kDisruption;

/// Bits of Event::flags. Stored in journals: never renumber.
enum Flag : uint8_t {
  kBlocking = 1,    ///< data loading that blocks training
  kFailed = 2,      ///< job end by an exception
  kSignal = 4,      ///< process exit: exit_value is a signal number; without it and without kCode nothing is known
  kCode = 8,        ///< process exit: exit_value is an exit code
  kEmergency = 16,  ///< restore from an emergency checkpoint
  kHasStep = 32,    ///< `step` is set on a kind that need not have one (checkpoints)
  kUntimed = 64,    ///< a checkpoint entry without a start of its own: time_ns is not set (SEMANTICS, reading a log)
};

constexpr bool is_start(Kind kind) {
  return kind >= Kind::kAcceleratorInitStart && kind <= Kind::kElasticReinitEnd && (static_cast<int>(kind) & 1) != 0;
}
constexpr bool is_end(Kind kind) {
  return kind >= Kind::kAcceleratorInitStart && kind <= Kind::kElasticReinitEnd && (static_cast<int>(kind) & 1) == 0;
}
/// The start kind of a pair's start or end.
constexpr Kind start_of(Kind kind) { return is_end(kind) ? static_cast<Kind>(static_cast<int>(kind) - 1) : kind; }

/// Where an entry stands in its log. It belongs to the event, whatever order events arrive in.
/// Imported logs: {0, ordinal of the entry}. Journals: {recording time, tie-break among journals, segment and slot}.
struct Position {
  uint64_t major = 0;
  uint64_t minor = 0;
  friend constexpr auto operator<=>(const Position&, const Position&) = default;
};

/// Who recorded: shared by all events of one journal, or of one identity in an imported log.
/// Owned by the producer of the events and valid as long as it.
struct Origin {
  std::string_view attempt_id = {};  ///< empty: the log does not say
  std::string_view run_id = {};
  std::string_view role = {};  ///< empty: a trainer; else launcher, monitor, …
  std::string_view host = {};
  std::string_view boot_id = {};
  int64_t process_index = 0;
  int64_t pid = 0;
};

/// What few events carry.
struct Detail {
  std::string_view location = {};  ///< checkpoint directory
  std::string_view cause = {};     ///< disruption: preempted oom signal exit hang host_lost planned manual unknown
  std::string_view text = {};      ///< disruption: free text
  int64_t active_slices = 0;
  int64_t total_slices = 0;
  int64_t available_slices = 0;
  double tokens = std::numeric_limits<double>::quiet_NaN();  ///< work of a step; NaN = not told
  double samples = std::numeric_limits<double>::quiet_NaN();
  double flops = std::numeric_limits<double>::quiet_NaN();
};

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
/// Limits of the format (SEMANTICS, reading a log): what lies beyond is malformed.
constexpr int64_t kMaxTimeNs = 4'000'000'000 * kNanosecondsPerSecond;
constexpr int64_t kMaxDurationNs = 1'000'000'000 * kNanosecondsPerSecond;
constexpr int64_t kMaxStep = int64_t{1} << 53;

struct Event {
  int64_t time_ns = 0;
  Position position = {};
  uint64_t fingerprint = 0;  ///< of the whole payload, ignored keys included: equal for redeliveries; 0 = never one
  int64_t step = 0;
  int64_t duration_ns = 0;     ///< kCheckpointSave, kCheckpointRestore
  std::string_view name = {};  ///< custom events and elastic waits
  const Origin* origin = nullptr;
  const Detail* detail = nullptr;
  int32_t exit_value = 0;
  Kind kind = Kind::kNone;
  uint8_t flags = 0;

  [[nodiscard]] constexpr bool has(Flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] int64_t process_index() const { return origin == nullptr ? 0 : origin->process_index; }
  /// The last instant that this event tells of.
  [[nodiscard]] constexpr int64_t end_ns() const { return time_ns + duration_ns; }
};

}  // namespace goodput::event
