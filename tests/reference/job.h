// Inside the reference: a log in time order, and the job that it tells of, before any second is accounted.
//
// read_log() decides what was recorded when; build_job() which attempts, step records and events that makes;
// judge_steps() what each step interval is worth; partition() which rule owns which instant.
//
//   TimeOrder log = read_log(events, findings);
//   std::optional<Job> job = build_job(log, options, findings);
//   Steps steps = judge_steps(*job, options);
//   Partition pieces = partition(*job, steps, options);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"
#include "reference/accounting.h"

namespace goodput::reference {

inline constexpr std::string_view kProductive = "PRODUCTIVE";
inline constexpr std::string_view kProgramStartup = "PROGRAM_STARTUP";
inline constexpr std::string_view kDataLoadingSync = "DATA_LOADING_SYNC";
inline constexpr std::string_view kWastedProgress = "WASTED_PROGRESS";
inline constexpr std::string_view kInfrastructureRecovery = "INFRASTRUCTURE_RECOVERY";
inline constexpr std::string_view kCustomEvents = "CUSTOM_BADPUT_EVENTS";
inline constexpr std::string_view kStalled = "STALLED";
inline constexpr std::string_view kOther = "OTHER";
/// Not classes: a load whose class rule 7 has yet to decide, and one that it found to overlap a step.
inline constexpr std::string_view kDataLoading = "DATA_LOADING";
inline constexpr std::string_view kDataLoadingAsync = "DATA_LOADING_ASYNC";

/// An event at the time that the rules of reading give it; `rank` is its place in time order.
struct Entry {
  int64_t time_ns = 0;
  size_t rank = 0;
  const event::Event* event = nullptr;
};

struct TimeOrder {
  std::vector<Entry> entries;
  std::vector<Entry> annotations;  ///< kDisruption: they explain, they account nothing; rank: of the entry that follows
};

/// Event time that may own instants of its attempt (rule 6).
struct OwnedTime {
  std::string_view class_name;
  std::string custom_name;
  int64_t start_ns = 0, end_ns = 0;
  size_t rank = 0;  ///< of its start
};

/// Who owns what inside one attempt: the result of rule 6 for every instant.
class Owners {
 public:
  struct Span {
    Rational start, end;
  };
  explicit Owners(const std::vector<OwnedTime>& events);

  /// Owner of the instant, or null. Borrowed from the vector given to the constructor.
  [[nodiscard]] const OwnedTime* at(const Rational& instant) const;
  [[nodiscard]] Rational unowned_time(const Rational& from, const Rational& to) const;
  /// The first `amount` of unowned time in [from, to), and the rest of the unowned time in it.
  struct Taken {
    std::vector<Span> head, rest;
  };
  [[nodiscard]] Taken take(const Rational& from, const Rational& to, Rational amount) const;

 private:
  struct Slice {
    int64_t start, end;
    const OwnedTime* owner;
  };
  [[nodiscard]] size_t slice_after(const Rational& instant) const;

  std::vector<Slice> slices_;  ///< from the beginning to the end of time
};

struct StepRecord {
  int64_t step = 0, time_ns = 0;
  size_t rank = 0;
};

struct Segment {
  size_t attempt = 0;
  std::vector<StepRecord> steps;
};

struct Attempt {
  std::string id;
  int64_t start_ns = 0;
  int64_t last_ns = 0;  ///< last event, durations included
  std::vector<Entry> entries;
  std::vector<OwnedTime> events;
  std::optional<int64_t> completed_ns, failed_ns, exit_ns, exit_zero_ns;
  bool opened = false;  ///< by a job start or an identity, not by a stray entry
  int64_t opened_ns = 0;
  bool has_job_start = false;
  size_t opening_rank = 0;  ///< of the entry that opened it
  bool has_steps = false;
  int64_t death_ns = 0;
  bool dead = false;  ///< the last attempt: dead although nobody recorded its end
};

struct Job {
  std::vector<Attempt> attempts;
  std::vector<Segment> segments;
  std::vector<Entry> annotations;
  int64_t start_ns = 0, end_ns = 0;

  [[nodiscard]] bool last_of_attempt(size_t segment) const {
    return segment + 1 == segments.size() || segments[segment + 1].attempt != segments[segment].attempt;
  }
  /// Where the attempt's open time ends: its death, or T1 while it runs.
  [[nodiscard]] int64_t closing_ns(size_t attempt) const {
    const bool over = attempt + 1 < attempts.size() || attempts[attempt].dead;
    return over ? attempts[attempt].death_ns : end_ns;
  }
};

/// Redeliveries dropped, clocks that are behind moved forward, everything in time order.
TimeOrder read_log(std::span<const event::Event> events, Findings& findings);
std::optional<Job> build_job(const TimeOrder& log, const Options& options, Findings& findings);
/// Fills Attempt::events: ends paired with starts, checkpoint entries, what never ended, loads judged by rule 7.
void pair_events(Job& job, Findings& findings);

}  // namespace goodput::reference
