// SEMANTICS, "Figures": one record for each restart and each rollback.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "reference/figures.h"

namespace goodput::reference {
namespace {

/// Steps and seconds of one stretch of work that a falling resume step takes out of what is preserved.
struct Loss {
  int64_t steps = 0;
  Rational wasted_ns;
};

class Disruptions {
 public:
  Disruptions(const Job& job, const Steps& steps, const Partition& partition)
      : job_(job), steps_(steps), partition_(partition) {}

  std::vector<DisruptionRecord> run() {
    size_t segment = 0;
    for (size_t attempt = 0; attempt < job_.attempts.size(); ++attempt) {
      if (attempt > 0) add_restart(attempt);
      for (bool first = true; segment < job_.segments.size() && job_.segments[segment].attempt == attempt; ++segment) {
        if (!first) add_rollback(segment);
        begin_segment(segment);
        first = false;
      }
    }
    return std::move(records_);
  }

 private:
  void add_restart(size_t attempt) {
    const Attempt& ended = job_.attempts[attempt - 1];
    DisruptionRecord record;
    record.time_ns = ended.death_ns;
    record.attempt = static_cast<int64_t>(attempt);
    record.completed_end = ended.completed_ns.has_value();
    size_t from_rank = ended.opening_rank;
    for (size_t k = 0; k < job_.segments.size() && job_.segments[k].attempt < attempt; ++k) {
      const StepRecord& last = job_.segments[k].steps.back();
      record.last_step = last.step;
      if (job_.segments[k].attempt != attempt - 1 || !job_.last_of_attempt(k)) continue;
      from_rank = last.rank;
      record.stalled_ns = time_of(kStalled, last.time_ns, ended.death_ns);
    }
    record.planned = planned_between(from_rank, job_.attempts[attempt].opening_rank);
    records_.push_back(std::move(record));
  }

  void add_rollback(size_t segment) {
    const StepRecord& last = job_.segments[segment - 1].steps.back();
    DisruptionRecord record;
    record.rollback = true;
    record.time_ns = last.time_ns;
    record.attempt = static_cast<int64_t>(job_.segments[segment].attempt);
    record.last_step = last.step;
    record.planned = planned_between(last.rank, job_.segments[segment].steps.front().rank);
    records_.push_back(std::move(record));
  }

  /// The segment that the disruptions since the one before led to: the first of them is charged with what it wasted.
  void begin_segment(size_t segment) {
    const StepRecord& first = job_.segments[segment].steps.front();
    for (size_t k = settled_; k < records_.size(); ++k) {
      DisruptionRecord& record = records_[k];
      record.resume_step = first.step;
      record.recovery_ns = first.time_ns - record.time_ns;
      record.recovery_by_class_ns = clipped(partition_.pieces, record.time_ns, first.time_ns).by_class_ns;
      if (k > settled_) continue;
      const Loss loss = loss_at(segment);
      record.steps_wasted = loss.steps;
      record.wasted_ns = loss.wasted_ns;
    }
    settled_ = records_.size();
  }

  /// What the beginning of `segment` turns from preserved into wasted, given all segments before it.
  [[nodiscard]] Loss loss_at(size_t segment) const {
    Loss total;
    const int64_t first = job_.segments[segment].steps.front().step;
    std::optional<int64_t> before;  // lowest first step of the segments between k and `segment`
    for (size_t k = segment; k-- > 0;) {
      const int64_t after = std::min(before.value_or(first), first);
      if (before != after) {
        for (const StepInterval& interval : steps_.by_segment[k]) {
          const int64_t kept_before = preserved_steps(interval, before), kept_after = preserved_steps(interval, after);
          total.steps += kept_before - kept_after;
          total.wasted_ns +=
              Rational(interval.end_ns - interval.start_ns) * (kept_before - kept_after) / interval.steps();
        }
        if (job_.last_of_attempt(k) && job_.segments[k].attempt != job_.segments[segment].attempt) {
          add_tail(total, k, before, after);
        }
      }
      const int64_t own = job_.segments[k].steps.front().step;
      before = std::min(before.value_or(own), own);
    }
    return total;
  }

  void add_tail(Loss& total, size_t segment, std::optional<int64_t> before, int64_t after) const {
    const StepRecord& last = job_.segments[segment].steps.back();
    const Attempt& attempt = job_.attempts[job_.segments[segment].attempt];
    int64_t kept_before = 0;  // steps that the tail had completed
    if (before) {
      kept_before = std::max<int64_t>(0, *before - last.step);
    } else {
      const std::optional<int64_t> step_end = believed_end(job_, steps_, segment, before);
      kept_before = attempt.completed_ns || (step_end && *step_end < attempt.death_ns) ? 1 : 0;
    }
    total.steps += std::max<int64_t>(0, kept_before - std::max<int64_t>(0, after - last.step));
    if (after <= last.step && (!before || *before > last.step)) {
      total.wasted_ns += time_of(kWastedProgress, last.time_ns, attempt.death_ns);
    }
  }

  static int64_t preserved_steps(const StepInterval& interval, std::optional<int64_t> resume) {
    return resume ? std::clamp<int64_t>(*resume - interval.first_step, 0, interval.steps()) : interval.steps();
  }

  [[nodiscard]] Rational time_of(std::string_view class_name, int64_t from_ns, int64_t to_ns) const {
    const Totals totals = clipped(partition_.pieces, from_ns, to_ns);
    const auto found = totals.by_class_ns.find(std::string(class_name));
    return found == totals.by_class_ns.end() ? Rational(0) : found->second;
  }

  [[nodiscard]] bool planned_between(size_t from_rank, size_t to_rank) const {
    return std::any_of(job_.annotations.begin(), job_.annotations.end(), [&](const Entry& entry) {
      const event::Detail* detail = entry.event->detail;
      return detail != nullptr && detail->cause == "planned" && entry.rank > from_rank && entry.rank <= to_rank;
    });
  }

  const Job& job_;
  const Steps& steps_;
  const Partition& partition_;
  std::vector<DisruptionRecord> records_;
  size_t settled_ = 0;  ///< records before this one have found their segment
};

}  // namespace

std::vector<DisruptionRecord> disruptions_of(const Job& job, const Steps& steps, const Partition& partition) {
  return Disruptions(job, steps, partition).run();
}

}  // namespace goodput::reference
