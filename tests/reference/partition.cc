// Rules 1 to 5 and 9 to 11: what every rule claims of the wall clock, and who is asked first.
// SPDX-License-Identifier: Apache-2.0
#include "reference/partition.h"

#include <algorithm>

namespace goodput::reference {
namespace {

using Span = Owners::Span;
using Spans = std::vector<Span>;

/// What each rule claims, before precedence.
struct Claims {
  Spans recovery, wasted, wasted_tails, stalled, startup, preserved, rollback, other;
};

/// Collects the claims of all rules.
class Claimant {
 public:
  Claimant(const Job& job, const Steps& steps, const Options& options)
      : job_(job), steps_(steps), options_(options), completed_(job.segments.size()) {
    for (const Attempt& attempt : job.attempts) down_from_.push_back(attempt.death_ns);
  }

  void run() {
    for (size_t k = 0; k < job_.segments.size(); ++k) claim_intervals(k);
    for (size_t k = 0; k < job_.segments.size(); ++k) claim_tail(k);
    claim_recovery();
  }

  Claims claims;

  Partition take(std::vector<Piece> pieces) && {
    return {std::move(pieces), std::move(down_from_), std::move(completed_)};
  }
  [[nodiscard]] const std::vector<Rational>& down_from() const { return down_from_; }

 private:
  static void append(Spans& into, const Spans& spans) { into.insert(into.end(), spans.begin(), spans.end()); }

  [[nodiscard]] const Owners& owners_of(size_t segment) const { return steps_.owners[job_.segments[segment].attempt]; }

  /// Rule 9: what the fully preserved warm-up intervals took beyond ordinary ones.
  [[nodiscard]] Rational startup_excess(size_t segment) const {
    Rational time = 0, steps = 0;
    for (const StepInterval& interval : steps_.by_segment[segment]) {
      if (!interval.warm_up || interval.preserved_share != 1) continue;
      time += interval.unowned_ns;
      steps += interval.steps();
    }
    if (steps == 0) return 0;
    const std::optional<Rational> mean = steps_.mean_ns(segment);
    return mean ? std::max(Rational(0), Rational(time - *mean * steps)) : Rational(0);
  }

  void claim_intervals(size_t segment) {
    Rational excess = startup_excess(segment);
    for (const StepInterval& interval : steps_.by_segment[segment]) {
      const Rational& share = interval.preserved_share;
      const Rational cut = interval.start_ns + (interval.end_ns - interval.start_ns) * share;
      if (share < 1) claims.wasted.push_back({cut, interval.end_ns});
      if (share == 0) continue;
      if (interval.warm_up && share == 1 && excess > 0) {
        const Owners::Taken taken = owners_of(segment).take(interval.start_ns, cut, excess);
        append(claims.startup, taken.head);
        append(claims.preserved, taken.rest);
        for (const Span& span : taken.head) excess -= span.end - span.start;
      } else if (interval.stalled) {
        const Rational credit = *interval.typical_ns * interval.steps() * share;
        const Owners::Taken taken = owners_of(segment).take(interval.start_ns, cut, credit);
        append(claims.preserved, taken.head);
        append(claims.stalled, taken.rest);
      } else {
        claims.preserved.push_back({interval.start_ns, cut});
      }
    }
  }

  /// Rules 3 to 5 for what follows the last step record of a segment.
  void claim_tail(size_t segment) {
    const size_t attempt_index = job_.segments[segment].attempt;
    const Attempt& attempt = job_.attempts[attempt_index];
    const StepRecord& last = job_.segments[segment].steps.back();
    const std::optional<int64_t> resume = steps_.resume_step[segment];
    const bool followed = attempt_index + 1 < job_.attempts.size();
    if (!job_.last_of_attempt(segment)) {
      claims.rollback.push_back({last.time_ns, job_.segments[segment + 1].steps.front().time_ns});
    } else if (!resume && followed) {
      claim_last_step(segment, attempt.death_ns, attempt.completed_ns ? claims.preserved : claims.other);
    } else if (!resume && attempt.completed_ns) {
      claim_last_step(segment, *attempt.completed_ns, claims.preserved);
    } else if (!resume) {
      claim_last_step(segment, attempt.dead ? attempt.death_ns : job_.end_ns, claims.other);
    } else if (*resume <= last.step) {
      claims.wasted_tails.push_back({last.time_ns, attempt.death_ns});
      claim_last_step(segment, attempt.death_ns, claims.wasted);
    } else if (attempt.completed_ns) {
      claim_last_step(segment, std::min(*attempt.completed_ns, attempt.death_ns), claims.preserved);
    } else {
      Rational end = attempt.death_ns;
      if (!believed_end(job_, steps_, segment, resume)) {
        const Rational steps_done = steps_.mean_ns(segment).value_or(0) * (*resume - last.step);
        end = std::min(std::max(end, Rational(last.time_ns + steps_done)),
                       Rational(job_.attempts[attempt_index + 1].start_ns));
      }
      claim_last_step(segment, end, claims.preserved);
      down_from_[attempt_index] = std::max(down_from_[attempt_index], end);
    }
  }

  void claim_last_step(size_t segment, const Rational& end, Spans& into) {
    const StepRecord& last = job_.segments[segment].steps.back();
    const std::optional<int64_t> resume = steps_.resume_step[segment];
    const std::optional<int64_t> step_end = believed_end(job_, steps_, segment, resume);
    if (!step_end || *step_end >= end) return claim_unless_stalled(segment, last.time_ns, end, into);
    completed_[segment] = true;
    const bool again = resume && *resume <= last.step;
    claim_unless_stalled(segment, last.time_ns, *step_end, again ? claims.wasted : claims.preserved);
    claim_unless_stalled(segment, *step_end, end, claims.other);
  }

  /// Rule 10 for tails; the tail right after a segment's first record is warm-up.
  void claim_unless_stalled(size_t segment, const Rational& from, const Rational& to, Spans& into) {
    if (to <= from) return;
    const bool warm_up = job_.segments[segment].steps.size() == 1;
    const std::optional<Rational> typical = warm_up ? std::nullopt : steps_.tail_typical_ns[segment];
    const Owners& owners = owners_of(segment);
    if (!is_stalled(owners.unowned_time(from, to), 1, typical, options_)) {
      into.push_back({from, to});
      return;
    }
    const Owners::Taken taken = owners.take(from, to, *typical);
    append(into, taken.head);
    append(claims.stalled, taken.rest);
  }

  /// Rule 1.
  void claim_recovery() {
    for (size_t k = 0; k < job_.attempts.size(); ++k) {
      const bool followed = k + 1 < job_.attempts.size();
      if (!followed && !job_.attempts[k].dead) continue;
      const Rational until = followed ? job_.attempts[k + 1].start_ns : job_.end_ns;
      if (until > down_from_[k]) claims.recovery.push_back({down_from_[k], until});
    }
  }

  const Job& job_;
  const Steps& steps_;
  const Options& options_;
  std::vector<Rational> down_from_;
  std::vector<bool> completed_;
};

/// The wall clock cut at every boundary, and what is claimed of each cut.
class Cuts {
 public:
  Cuts(const Job& job, const Claimant& claimant) : starts_{job.start_ns, job.end_ns} {
    for (size_t k = 0; k < job.attempts.size(); ++k) {
      starts_.emplace_back(job.attempts[k].start_ns);
      starts_.push_back(claimant.down_from()[k]);
      for (const OwnedTime& event : job.attempts[k].events) {
        starts_.emplace_back(event.start_ns);
        starts_.emplace_back(event.end_ns);
      }
    }
    const Claims& claims = claimant.claims;
    for (const Spans* spans : {&claims.recovery, &claims.wasted, &claims.wasted_tails, &claims.stalled, &claims.startup,
                               &claims.preserved, &claims.rollback, &claims.other}) {
      for (const Span& span : *spans) {
        starts_.push_back(span.start);
        starts_.push_back(span.end);
      }
    }
    std::erase_if(starts_, [&](const Rational& at) { return at < job.start_ns || at > job.end_ns; });
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
  }

  [[nodiscard]] size_t count() const { return starts_.size() - 1; }
  [[nodiscard]] const Rational& start(size_t k) const { return starts_[k]; }

  /// Which cuts lie inside one of the spans.
  [[nodiscard]] std::vector<bool> inside(const Spans& spans) const {
    std::vector<bool> is_inside(starts_.size());
    for (const Span& span : spans) {
      const auto first = std::lower_bound(starts_.begin(), starts_.end(), span.start) - starts_.begin();
      const auto last = std::lower_bound(starts_.begin(), starts_.end(), span.end) - starts_.begin();
      for (auto k = first; k < last; ++k) is_inside[static_cast<size_t>(k)] = true;
    }
    return is_inside;
  }

 private:
  std::vector<Rational> starts_;
};

/// Rule 11.
std::vector<Piece> ask_every_cut(const Job& job, const Steps& steps, const Claims& claims, const Cuts& cuts) {
  const std::vector<bool> recovery = cuts.inside(claims.recovery), wasted = cuts.inside(claims.wasted),
                          wasted_tail = cuts.inside(claims.wasted_tails), stalled = cuts.inside(claims.stalled),
                          startup = cuts.inside(claims.startup), preserved = cuts.inside(claims.preserved),
                          rollback = cuts.inside(claims.rollback), other = cuts.inside(claims.other);
  std::vector<Piece> pieces;
  size_t attempt = 0;
  for (size_t k = 0; k < cuts.count(); ++k) {
    while (attempt + 1 < job.attempts.size() && job.attempts[attempt + 1].start_ns <= cuts.start(k)) ++attempt;
    const OwnedTime* owner = steps.owners[attempt].at(cuts.start(k));
    std::string_view name = kOther;
    if (recovery[k]) {
      name = kInfrastructureRecovery;
    } else if (wasted[k] || (owner != nullptr && wasted_tail[k] && !other[k])) {
      name = kWastedProgress;
    } else if (owner != nullptr) {
      name = owner->class_name;
    } else if (stalled[k]) {
      name = kStalled;
    } else if (startup[k]) {
      name = kProgramStartup;
    } else if (preserved[k]) {
      name = kProductive;
    } else if (rollback[k]) {
      name = kInfrastructureRecovery;
    }
    const std::string custom = name == kCustomEvents ? owner->custom_name : "";
    if (!pieces.empty() && pieces.back().class_name == name && pieces.back().custom_name == custom) {
      pieces.back().end_ns = cuts.start(k + 1);
    } else {
      pieces.push_back({cuts.start(k), cuts.start(k + 1), name, custom});
    }
  }
  return pieces;
}

}  // namespace

std::optional<int64_t> believed_end(const Job& job, const Steps& steps, size_t segment, std::optional<int64_t> resume) {
  const StepRecord& last = job.segments[segment].steps.back();
  const std::optional<Rational>& typical = steps.tail_typical_ns[segment];
  if (!typical || (resume && *resume > last.step + 1)) return std::nullopt;
  for (const Entry& entry : job.attempts[job.segments[segment].attempt].entries) {
    if (entry.event->kind != event::Kind::kStepEnd || entry.event->step != last.step) continue;
    const int64_t after_ns = entry.time_ns - last.time_ns;
    if (after_ns > 0 && 2 * Rational(after_ns) >= *typical) return entry.time_ns;
  }
  return std::nullopt;
}

Partition partition_of(const Job& job, const Steps& steps, const Options& options) {
  Claimant claimant(job, steps, options);
  claimant.run();
  std::vector<Piece> pieces = ask_every_cut(job, steps, claimant.claims, Cuts(job, claimant));
  return std::move(claimant).take(std::move(pieces));
}

}  // namespace goodput::reference
