#include "ledger/step_times.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "ledger/limits.h"
#include "ledger/quotient.h"

namespace goodput::ledger {

namespace {

using Bin = StepTimeBins::Bin;
constexpr int kOctaveBits = StepTimeBins::kOctaveBits;
constexpr uint64_t kOctaveBins = uint64_t{1} << kOctaveBits;

size_t bin_of(int64_t ns) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
  if (value < 2 * kOctaveBins) return value;
  const int shift = std::bit_width(value) - (kOctaveBits + 1);
  return static_cast<uint64_t>(shift) * kOctaveBins + (value >> shift);
}

int64_t middle_of(size_t bin) {
  if (bin < 2 * kOctaveBins) return static_cast<int64_t>(bin);
  const auto shift = static_cast<int>(bin / kOctaveBins - 1);
  const uint64_t low = (bin - static_cast<uint64_t>(shift) * kOctaveBins) << shift;
  return static_cast<int64_t>(low + (uint64_t{1} << shift) / 2);
}

/// The k-th smallest (from 0) of weighted values in ascending order.
int64_t kth(std::span<const Bin> bins, int64_t k) {
  for (const Bin& bin : bins) {
    if (k < bin.count) return bin.ns;
    k -= bin.count;
  }
  return bins.back().ns;
}

int64_t total_of(std::span<const Bin> bins) {
  int64_t count = 0;
  for (const Bin& bin : bins) count += bin.count;
  return count;
}

/// Twice the median.
int64_t twice_median(std::span<const Bin> bins) {
  const int64_t count = total_of(bins);
  return kth(bins, (count - 1) / 2) + kth(bins, count / 2);
}

/// Distances |2 · value - twice_center|, ascending, with weights.
std::vector<Bin> distances(std::span<const Bin> bins, int64_t twice_center) {
  std::vector<Bin> out;
  out.reserve(bins.size());
  for (const Bin& bin : bins) out.push_back({std::abs(2 * bin.ns - twice_center), bin.count});
  std::sort(out.begin(), out.end(), [](const Bin& a, const Bin& b) { return a.ns < b.ns; });
  return out;
}

/// Mean of the step times not above median + 3 · MAD; below 1 s left out first when the median is 1 s or more.
double ideal_of(std::span<const Bin> bins) {
  if (twice_median(bins) >= 2 * kNanosecondsPerSecond) {
    while (bins.front().ns < kNanosecondsPerSecond) bins = bins.subspan(1);
  }
  const int64_t median2 = twice_median(bins);
  const int64_t mad4 = twice_median(distances(bins, median2));
  int128 sum = 0;
  int64_t count = 0;
  for (const Bin& bin : bins) {
    if (static_cast<int128>(4) * bin.ns > 2 * static_cast<int128>(median2) + 3 * static_cast<int128>(mad4)) break;
    sum += static_cast<int128>(bin.ns) * bin.count;
    count += bin.count;
  }
  return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(count));
}

/// Linear interpolation between the closest ranks.
double percentile(std::vector<double>& values, double p) {
  std::sort(values.begin(), values.end());
  const double at = static_cast<double>(values.size() - 1) * p / 100;
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

double percentile(std::span<const Bin> bins, int64_t count, double p) {
  const double at = static_cast<double>(count - 1) * p / 100;
  const auto low = static_cast<int64_t>(at);
  const auto below = static_cast<double>(kth(bins, low));
  return below + (static_cast<double>(kth(bins, std::min(low + 1, count - 1))) - below) * (at - static_cast<double>(low));
}

double deviation_of(std::span<const int64_t> latest, double ideal_ns) {
  std::vector<double> deviations;
  deviations.reserve(latest.size());
  for (const int64_t ns : latest) deviations.push_back(std::abs(static_cast<double>(ns) - ideal_ns));
  if (deviations.size() < kRecentStepTimes) {
    long double sum = 0;
    for (const double deviation : deviations) sum += deviation;
    return static_cast<double>(sum / static_cast<long double>(deviations.size()));
  }
  const auto recent_begin = deviations.end() - static_cast<std::ptrdiff_t>(kRecentStepTimes);
  std::vector<double> recent(recent_begin, deviations.end());
  const double spike = percentile(recent, 90);
  if (deviations.size() < kRecentStepTimes + kEarlierStepTimes) return spike;
  std::vector<double> earlier(recent_begin - static_cast<std::ptrdiff_t>(kEarlierStepTimes), recent_begin);
  return spike - percentile(earlier, 50);
}

StepFigures figures_of(std::span<const Bin> bins, std::span<const int64_t> latest) {
  StepFigures out;
  out.count = total_of(bins);
  out.ideal_ns = ideal_of(bins);
  out.deviation_ns = deviation_of(latest, out.ideal_ns);
  out.p50_ns = percentile(bins, out.count, 50);
  out.p90_ns = percentile(bins, out.count, 90);
  out.p99_ns = percentile(bins, out.count, 99);
  out.max_ns = static_cast<double>(bins.back().ns);
  return out;
}

}  // namespace

void StepTimeBins::change(int64_t ns, int64_t by) {
  const size_t bin = bin_of(ns);
  const size_t page = bin / kPageBins;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
  (*pages_[page])[bin % kPageBins] += static_cast<int32_t>(by);
  count_ += by;
}

std::vector<Bin> StepTimeBins::bins() const {
  std::vector<Bin> out;
  for (size_t page = 0; page < pages_.size(); ++page) {
    if (pages_[page] == nullptr) continue;
    for (size_t i = 0; i < kPageBins; ++i) {
      if (const int32_t count = (*pages_[page])[i]; count != 0) out.push_back({middle_of(page * kPageBins + i), count});
    }
  }
  return out;
}

std::optional<StepFigures> exact_figures(std::span<const int64_t> sorted, std::span<const int64_t> latest) {
  if (sorted.empty()) return std::nullopt;
  std::vector<Bin> bins;
  bins.reserve(sorted.size());
  for (const int64_t ns : sorted) bins.push_back({ns, 1});
  return figures_of(bins, latest);
}

std::optional<StepFigures> binned_figures(const StepTimeBins& bins, std::span<const int64_t> latest) {
  const std::vector<Bin> counts = bins.bins();
  if (counts.empty()) return std::nullopt;
  return figures_of(counts, latest);
}

}  // namespace goodput::ledger
