// Which attempt each journal of a run belongs to (ARCHITECTURE, "Identity").
//
// Rank 0 opens attempts; other ranks, launchers and monitors belong to one. Ids that rank-0 journals share are told
// apart: a dead one's id is taken up as "ID#2", a living one's second writer is left out.
//
//   const Attempts attempts = assign_attempts(facts);
//   if (attempts.journals[i].part == JournalPart::kIncluded) origin = attempts.journals[i].from.front().attempt;
//
// A pure function of what is known of the journals: known again, it says the same again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace goodput::journal {

/// A rank of another attempt's neighbourhood: starts of one launch lie within a minute.
constexpr int64_t kRankSlackNs = 60'000'000'000;

/// What is known of one journal.
struct JournalFacts {
  std::string journal_id;  ///< as its folder is named: the last word between equals
  std::string attempt_id;  ///< as in its header
  std::string role;        ///< empty: a trainer
  int64_t process_index = 0;
  int64_t start_ns = 0;      ///< when it was opened
  int64_t last_sign_ns = 0;  ///< its last event or clock pair
  bool is_dead = false;
  std::vector<event::Position> job_starts;  ///< all of them, in the order of the log
};

struct Attempt {
  std::string id;    ///< with "#n" where it is not the first
  std::string base;  ///< without
  size_t journal = 0;
  event::Position start;  ///< of the job start that opened it; of the journal's first attempt, its opening
  int64_t start_ns = 0;
  int64_t last_sign_ns = 0;
};

enum class JournalPart : uint8_t {
  kIncluded,
  kSecondWriter,  ///< a rank 0 beside a living rank 0 of the same attempt
  kOrphanRank,    ///< no attempt is known that it could belong to
  kUndecided,     ///< not yet: whoever shares its id may be dying, or its rank 0 has not been seen
};

/// From this place of the log on, the journal's events are of this attempt.
struct AttemptFrom {
  static constexpr size_t kNone = ~size_t{0};  ///< of no attempt that is known: the journal's own id
  event::Position position;
  size_t attempt = kNone;
};

struct JournalAttempt {
  JournalPart part = JournalPart::kUndecided;
  std::vector<AttemptFrom> from;  ///< the first holds from the beginning; empty unless included
  size_t beside = 0;              ///< second writers: the journal that is the clock
};

struct Attempts {
  std::vector<Attempt> attempts;         ///< by start
  std::vector<JournalAttempt> journals;  ///< as the facts were given
};

/// To which attempt a rank other than 0 belongs that was opened at `start_ns` with `attempt_id` in its header. Nothing:
/// to none that is known. With an id, the later it was opened the later its attempt.
std::optional<size_t> attempt_of_rank(const std::vector<Attempt>& attempts, std::string_view attempt_id,
                                      int64_t start_ns);

/// `now_ns` decides how long a rank waits for its rank 0.
Attempts assign_attempts(const std::vector<JournalFacts>& journals, int64_t now_ns);

}  // namespace goodput::journal
