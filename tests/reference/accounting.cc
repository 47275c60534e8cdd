// The reference from end to end, and what is asked of its partition.
// SPDX-License-Identifier: Apache-2.0
#include "reference/accounting.h"

#include <algorithm>

#include "reference/figures.h"

namespace goodput::reference {
namespace {

AttemptStatus status_of(const Job& job, size_t k) {
  const Attempt& attempt = job.attempts[k];
  if (attempt.completed_ns) return AttemptStatus::kCompleted;
  if (attempt.failed_ns) return AttemptStatus::kFailed;
  return k + 1 < job.attempts.size() || attempt.dead ? AttemptStatus::kDied : AttemptStatus::kRunning;
}

std::vector<AttemptRecord> attempts_of(const Job& job, const Partition& partition) {
  std::vector<AttemptRecord> records;
  for (size_t k = 0; k < job.attempts.size(); ++k) {
    AttemptRecord record;
    record.id = job.attempts[k].id;
    record.start_ns = job.attempts[k].start_ns;
    const bool over = k + 1 < job.attempts.size() || job.attempts[k].dead;
    record.end_ns = over ? partition.down_from[k] : Rational(job.end_ns);
    record.status = status_of(job, k);
    for (const Segment& segment : job.segments) {
      if (segment.attempt != k) continue;
      if (!record.first_step) record.first_step = segment.steps.front().step;
      record.last_step = segment.steps.back().step;
    }
    record.totals = clipped(partition.pieces, record.start_ns, record.end_ns);
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<SliceRecord> slices_of(const Job& job) {
  std::vector<SliceRecord> slices;
  for (const Attempt& attempt : job.attempts) {
    for (const Entry& entry : attempt.entries) {
      if (entry.event->kind != event::Kind::kSliceCounts || entry.event->detail == nullptr) continue;
      const event::Detail& detail = *entry.event->detail;
      slices.push_back({entry.time_ns, detail.active_slices, detail.total_slices, detail.available_slices});
    }
  }
  return slices;
}

/// Sorted, joined where they touch; empty and reversed ones exclude nothing.
Intervals union_of(Intervals intervals) {
  std::erase_if(intervals, [](const auto& interval) { return interval.second <= interval.first; });
  std::sort(intervals.begin(), intervals.end());
  Intervals joined;
  for (const auto& [from, to] : intervals) {
    if (!joined.empty() && from <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, to);
    } else {
      joined.emplace_back(from, to);
    }
  }
  return joined;
}

/// The pieces outside all of `excluded`.
std::vector<Piece> less(const std::vector<Piece>& pieces, const Intervals& excluded) {
  std::vector<Piece> left;
  for (Piece piece : pieces) {
    for (const auto& [from, to] : excluded) {
      if (piece.start_ns < from && piece.end_ns > from) {
        left.push_back(piece);
        left.back().end_ns = from;
      }
      if (piece.end_ns > from && piece.start_ns < to) piece.start_ns = to;
    }
    if (piece.start_ns < piece.end_ns) left.push_back(piece);
  }
  return left;
}

}  // namespace

std::optional<Accounting> account(std::span<const event::Event> events, const Options& options) {
  Accounting accounting;
  std::optional<Job> job = build_job(read_log(events, accounting.findings), options, accounting.findings);
  if (!job) return std::nullopt;
  pair_events(*job, accounting.findings);
  const Steps steps = judge_steps(*job, options);
  Partition partition = partition_of(*job, steps, options);
  accounting.figures = figures_of(*job, steps, partition);
  accounting.attempts = attempts_of(*job, partition);
  accounting.disruptions = disruptions_of(*job, steps, partition);
  accounting.slices = slices_of(*job);
  accounting.pieces = std::move(partition.pieces);
  return accounting;
}

Totals totals(const Accounting& job, const Rational& from_ns, const Rational& to_ns, const Intervals& exclusions) {
  return clipped(less(job.pieces, union_of(exclusions)), from_ns, to_ns);
}

std::optional<SliceEfficiency> slice_efficiency(const Accounting& job, int64_t from_ns, int64_t to_ns) {
  const int64_t from = std::max(from_ns, job.figures.start_ns), to = std::min(to_ns, job.figures.end_ns);
  Rational known_ns = 0, stepping = 0, available = 0;
  for (size_t k = 0; k < job.slices.size(); ++k) {
    const SliceRecord& record = job.slices[k];
    const int64_t until = k + 1 < job.slices.size() ? job.slices[k + 1].time_ns : to;
    const int64_t start = std::max(record.time_ns, from), end = std::min(until, to);
    if (end <= start) continue;
    const int64_t slices = std::max<int64_t>(record.total, 1);
    stepping += Rational(end - start) * record.active / slices;
    available += Rational(end - start) * record.available / slices;
    known_ns += end - start;
  }
  if (known_ns == 0) return std::nullopt;
  return SliceEfficiency{stepping / known_ns, available / known_ns};
}

Rational sum(const Totals& totals) {
  Rational sum = 0;
  for (const auto& [name, time_ns] : totals.by_class_ns) sum += time_ns;
  return sum;
}

}  // namespace goodput::reference
