// SEMANTICS, "Figures": steps, deviation, loads.
// SPDX-License-Identifier: Apache-2.0
#include "reference/figures.h"

#include <algorithm>

namespace goodput::reference {
namespace {

constexpr size_t kDeviationOf = 100;
constexpr size_t kDeviationAgainst = 1'000;

Rational mean(const std::vector<Rational>& values) {
  Rational total = 0;
  for (const Rational& value : values) total += value;
  return total / values.size();
}

/// Mean of the step times not above median + 3·MAD.
std::optional<Rational> ideal_step_time(std::vector<Rational> times) {
  if (times.empty()) return std::nullopt;
  if (median(times) >= kSecond) std::erase_if(times, [](const Rational& time) { return time < kSecond; });
  const Rational middle = median(times);
  std::vector<Rational> distances;
  for (const Rational& time : times) distances.push_back(abs(time - middle));
  const Rational bound = middle + 3 * median(distances);
  std::erase_if(times, [&](const Rational& time) { return time > bound; });
  return mean(times);
}

std::optional<Rational> step_time_deviation(const std::vector<Rational>& times, const std::optional<Rational>& ideal) {
  if (!ideal) return std::nullopt;
  std::vector<Rational> deviations;
  for (const Rational& time : times) deviations.push_back(abs(time - *ideal));
  if (deviations.size() < kDeviationOf) return mean(deviations);
  const auto latest = deviations.end() - kDeviationOf;
  const Rational spike = percentile({latest, deviations.end()}, 90);
  if (deviations.size() < kDeviationOf + kDeviationAgainst) return spike;
  return spike - median({latest - kDeviationAgainst, latest});
}

int64_t max_productive_step(const Job& job, const Steps& steps, const Partition& partition) {
  int64_t highest = 0;
  for (size_t k = 0; k < job.segments.size(); ++k) {
    const std::optional<int64_t> resume = steps.resume_step[k];
    for (const StepInterval& interval : steps.by_segment[k]) {
      if (interval.preserved_share == 0) continue;
      highest = std::max(highest, (interval.preserved_share == 1 ? interval.next_step : *resume) - 1);
    }
    if (!job.last_of_attempt(k)) continue;
    const int64_t last_step = job.segments[k].steps.back().step;
    const bool complete = job.attempts[job.segments[k].attempt].completed_ns || partition.last_step_completed[k];
    if (!resume && complete) highest = std::max(highest, last_step);
    if (resume && *resume > last_step) highest = std::max(highest, *resume - 1);
  }
  return highest;
}

/// Rule 7: the loads that overlapped steps, each cut at its attempt's death or T1.
Rational async_data_loading(const Job& job, const Partition& partition) {
  Rational total = 0;
  for (size_t k = 0; k < job.attempts.size(); ++k) {
    const bool over = k + 1 < job.attempts.size() || job.attempts[k].dead;
    const Rational limit = over ? std::min(Rational(job.end_ns), partition.down_from[k]) : Rational(job.end_ns);
    for (const OwnedTime& load : job.attempts[k].events) {
      if (load.class_name != kDataLoadingAsync) continue;
      const Rational end = std::min(Rational(load.end_ns), limit);
      if (end > load.start_ns) total += end - load.start_ns;
    }
  }
  return total;
}

}  // namespace

Figures figures_of(const Job& job, const Steps& steps, const Partition& partition) {
  Figures figures;
  figures.start_ns = job.start_ns;
  figures.end_ns = job.end_ns;
  figures.disruptions = static_cast<int64_t>(job.attempts.size()) - 1;
  Rational preserved_steps = 0;
  for (size_t k = 0; k < job.segments.size(); ++k) {
    if (!job.last_of_attempt(k)) ++figures.disruptions;
    for (const StepInterval& interval : steps.by_segment[k]) {
      if (interval.preserved_share == 0) continue;
      figures.step_time_ns[interval.first_step] = interval.per_step_ns;
      preserved_steps += interval.steps() * interval.preserved_share;
    }
  }
  figures.max_productive_step = max_productive_step(job, steps, partition);
  if (!job.segments.empty()) figures.last_step = job.segments.back().steps.back().step;
  std::vector<Rational> times;
  for (const auto& [step, time] : figures.step_time_ns) times.push_back(time);
  figures.typical_step_time_ns = steps.typical_ns;
  figures.ideal_step_time_ns = ideal_step_time(times);
  figures.step_time_deviation_ns = step_time_deviation(times, figures.ideal_step_time_ns);
  if (figures.ideal_step_time_ns && job.end_ns > job.start_ns) {
    figures.ideal_goodput = preserved_steps * *figures.ideal_step_time_ns / (job.end_ns - job.start_ns);
  }
  figures.async_data_loading_ns = async_data_loading(job, partition);
  return figures;
}

Totals clipped(const std::vector<Piece>& pieces, const Rational& from_ns, const Rational& to_ns) {
  Totals totals;
  for (const Piece& piece : pieces) {
    const Rational start = std::max(piece.start_ns, from_ns), end = std::min(piece.end_ns, to_ns);
    if (end <= start) continue;
    const Rational length = end - start;
    totals.elapsed_ns += length;
    totals.by_class_ns[std::string(piece.class_name)] += length;
    if (!piece.custom_name.empty() || piece.class_name == kCustomEvents) {
      totals.by_custom_name_ns[piece.custom_name] += length;
    }
  }
  return totals;
}

}  // namespace goodput::reference
