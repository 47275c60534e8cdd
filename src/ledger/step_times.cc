// SPDX-License-Identifier: Apache-2.0
#include "ledger/step_times.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "ledger/limits.h"
#include "ledger/quotient.h"

namespace goodput::ledger {

namespace {

// The upper bits of a positive double are its exponent and the first bits of its fraction: 2^13 bins to the octave.
constexpr int kDroppedBits = 52 - 13;

uint64_t bin_of(double ns) { return std::bit_cast<uint64_t>(std::max(ns, 0.0)) >> kDroppedBits; }

double middle_of(uint64_t bin) {
  return bin == 0 ? 0 : std::bit_cast<double>((bin << kDroppedBits) | (uint64_t{1} << (kDroppedBits - 1)));
}

/// Values in ascending order with weights; in units of 1/scale ns.
template <typename T>
struct Weighted {
  T value;
  int64_t count;
};
template <typename T>
using Values = std::span<const Weighted<T>>;

/// The k-th smallest, from 0.
template <typename T>
T kth(Values<T> values, int64_t k) {
  for (const Weighted<T>& entry : values) {
    if (k < entry.count) return entry.value;
    k -= entry.count;
  }
  return values.back().value;
}

template <typename T>
int64_t total_of(Values<T> values) {
  int64_t count = 0;
  for (const Weighted<T>& entry : values) count += entry.count;
  return count;
}

template <typename T>
T twice_median(Values<T> values) {
  const int64_t count = total_of(values);
  return kth(values, (count - 1) / 2) + kth(values, count / 2);
}

/// |2 · value - twice_center|, ascending.
template <typename T>
std::vector<Weighted<T>> distances(Values<T> values, T twice_center) {
  std::vector<Weighted<T>> out;
  out.reserve(values.size());
  for (const Weighted<T>& entry : values) {
    const T difference = 2 * entry.value - twice_center;
    out.push_back({difference < 0 ? -difference : difference, entry.count});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return out;
}

/// Mean of the step times not above median + 3 · MAD; those below 1 s are left out first when the median is 1 s or
/// more.
template <typename T>
double ideal_of(Values<T> values, T second) {
  if (twice_median(values) >= 2 * second) {
    while (values.front().value < second) values = values.subspan(1);
  }
  const T median2 = twice_median(values);
  const std::vector<Weighted<T>> far = distances(values, median2);
  const T mad4 = twice_median(Values<T>(far));
  long double sum = 0;
  int64_t count = 0;
  for (const Weighted<T>& entry : values) {
    if (4 * entry.value > 2 * median2 + 3 * mad4) break;
    sum += static_cast<long double>(entry.value) * static_cast<long double>(entry.count);
    count += entry.count;
  }
  return static_cast<double>(sum / static_cast<long double>(count));
}

/// Linear interpolation between the closest ranks.
template <typename T>
double percentile(Values<T> values, int64_t count, double p) {
  const double at = static_cast<double>(count - 1) * p / 100;
  const auto low = static_cast<int64_t>(at);
  const auto below = static_cast<double>(kth(values, low));
  const auto above = static_cast<double>(kth(values, std::min(low + 1, count - 1)));
  return below + (above - below) * (at - static_cast<double>(low));
}

double percentile(std::vector<Weighted<double>> values, double p) {
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return percentile(Values<double>(values), static_cast<int64_t>(values.size()), p);
}

double deviation_of(std::span<const StepTime> latest, double ideal_ns) {
  std::vector<Weighted<double>> deviations;
  deviations.reserve(latest.size());
  for (const StepTime& time : latest) {
    const double ns = static_cast<double>(time.ns) / static_cast<double>(time.steps);
    deviations.push_back({std::abs(ns - ideal_ns), 1});
  }
  if (deviations.size() < kRecentStepTimes) {
    long double sum = 0;
    for (const auto& deviation : deviations) sum += deviation.value;
    return static_cast<double>(sum / static_cast<long double>(deviations.size()));
  }
  const auto recent_begin = deviations.end() - static_cast<std::ptrdiff_t>(kRecentStepTimes);
  const double spike = percentile({recent_begin, deviations.end()}, 90);
  if (deviations.size() < kRecentStepTimes + kEarlierStepTimes) return spike;
  return spike - percentile({recent_begin - static_cast<std::ptrdiff_t>(kEarlierStepTimes), recent_begin}, 50);
}

template <typename T>
StepFigures figures_of(Values<T> values, T scale, std::span<const StepTime> latest) {
  const auto in_ns = [&](double scaled) { return scaled / static_cast<double>(scale); };
  StepFigures out;
  out.count = total_of(values);
  out.ideal_ns = in_ns(ideal_of(values, scale * kNanosecondsPerSecond));
  out.deviation_ns = deviation_of(latest, out.ideal_ns);
  out.p50_ns = in_ns(percentile(values, out.count, 50));
  out.p90_ns = in_ns(percentile(values, out.count, 90));
  out.p99_ns = in_ns(percentile(values, out.count, 99));
  out.max_ns = in_ns(static_cast<double>(values.back().value));
  return out;
}

/// The least common multiple of all numbers of steps; 0 beyond 2^60.
int64_t common_steps(std::span<const StepTime> times) {
  constexpr int64_t kMost = int64_t{1} << 60;
  int64_t common = 1;
  for (const StepTime& time : times) {
    if (common % time.steps == 0) continue;
    const int64_t factor = time.steps / std::gcd(common, time.steps);
    if (common > kMost / factor) return 0;
    common *= factor;
  }
  return common;
}

std::span<const StepTime> latest_of(std::span<const StepTime> times) {
  return times.last(std::min(times.size(), kRecentStepTimes + kEarlierStepTimes));
}

template <typename T, typename Value>
std::vector<Weighted<T>> sorted_values(std::span<const StepTime> times, Value value_of) {
  std::vector<Weighted<T>> out;
  out.reserve(times.size());
  for (const StepTime& time : times) out.push_back({value_of(time), 1});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return out;
}

}  // namespace

void StepTimeBins::change(double ns, int64_t by) {
  const uint64_t bin = bin_of(ns);
  const auto page = static_cast<uint32_t>(bin >> kPageBits);
  if (last_ == nullptr || page != last_page_) {
    last_ = &pages_[page];
    last_page_ = page;
  }
  (*last_)[bin & ((uint64_t{1} << kPageBits) - 1)] += static_cast<int32_t>(by);
  count_ += by;
}

std::vector<StepTimeBins::Bin> StepTimeBins::bins() const {
  std::vector<Bin> out;
  for (const auto& [page, counts] : pages_) {
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0) out.push_back({middle_of((uint64_t{page} << kPageBits) | i), counts[i]});
    }
  }
  return out;
}

std::optional<StepFigures> exact_figures(std::span<const StepTime> times) {
  if (times.empty()) return std::nullopt;
  const int64_t common = common_steps(times);
  if (common == 1) {  // whole nanoseconds: exact in doubles too, and much the most common
    const auto values = sorted_values<double>(times, [](const StepTime& time) { return static_cast<double>(time.ns); });
    return figures_of(Values<double>(values), 1.0, latest_of(times));
  }
  if (common == 0) {
    const auto values = sorted_values<double>(
        times, [](const StepTime& time) { return static_cast<double>(time.ns) / static_cast<double>(time.steps); });
    return figures_of(Values<double>(values), 1.0, latest_of(times));
  }
  const auto values = sorted_values<int128>(
      times, [&](const StepTime& time) { return static_cast<int128>(time.ns) * (common / time.steps); });
  return figures_of(Values<int128>(values), static_cast<int128>(common), latest_of(times));
}

std::optional<StepFigures> binned_figures(const StepTimeBins& bins, std::span<const StepTime> latest) {
  std::vector<Weighted<double>> values;
  for (const StepTimeBins::Bin& bin : bins.bins()) values.push_back({bin.ns, bin.count});
  if (values.empty()) return std::nullopt;
  return figures_of(Values<double>(values), 1.0, latest);
}

}  // namespace goodput::ledger
