// SPDX-License-Identifier: Apache-2.0
#include "ledger/verdicts.h"

#include <algorithm>

#include "ledger/typical.h"

namespace goodput::ledger {

namespace {

/// Unowned time of consecutive spans; asked in time order.
class UnownedTime {
 public:
  explicit UnownedTime(std::span<const Owned> owned) : owned_(owned) {}

  int64_t in(int64_t from_ns, int64_t to_ns) {
    while (next_ < owned_.size() && owned_[next_].end_ns <= from_ns) ++next_;
    int64_t unowned_ns = to_ns - from_ns;
    for (size_t i = next_; i < owned_.size() && owned_[i].start_ns < to_ns; ++i) {
      unowned_ns -= std::min(owned_[i].end_ns, to_ns) - std::max(owned_[i].start_ns, from_ns);
    }
    return unowned_ns;
  }

 private:
  std::span<const Owned> owned_;
  size_t next_ = 0;
};

bool far_from(const StepTime& time, const Quotient& reference) {
  const Quotient own{static_cast<uint128>(time.ns), static_cast<uint128>(time.steps)};
  return less(reference, own, 2) || less(own, reference, 2);
}

class SegmentJudge {
 public:
  SegmentJudge(const Region& region, const Options& options, Verdicts& out, TypicalWindow& window)
      : region_(region), options_(options), out_(out), window_(window) {}

  void judge(const Segment& segment, uint32_t end, uint32_t intervals_before) {
    const uint32_t intervals = end > segment.begin ? end - segment.begin - 1 : 0;
    std::optional<Quotient> settled;  // from intervals 6, 7 and 8
    if (intervals_before == 0 && intervals >= kSettledIntervals) {
      const StepTime three[] = {time_of(segment.begin + kWarmupIntervals),
                                time_of(segment.begin + kWarmupIntervals + 1),
                                time_of(segment.begin + kWarmupIntervals + 2)};
      settled = median(three);
    }
    const std::optional<Quotient> reference = settled.has_value() ? settled : window_.typical();
    SegmentVerdict result;
    bool warm = intervals_before == 0;
    for (uint32_t i = segment.begin; i < segment.begin + intervals; ++i) {
      const uint32_t at = intervals_before + (i - segment.begin);
      const StepTime time = time_of(i);
      if (at > 0) {
        warm = warm && at < kWarmupIntervals && reference.has_value() && far_from(time, *reference);
      }
      Verdict verdict = Verdict::kSteady;
      if (warm) {
        verdict = Verdict::kWarmup;
      } else if (may_be_stalled(time.ns, time.steps, options_)) {
        const std::optional<Quotient> typical = typical_or(settled);
        if (typical.has_value() && is_stalled(time.ns, time.steps, *typical, options_)) {
          verdict = Verdict::kStalled;
          out_.stalled_typical.emplace_back(i, *typical);
        }
      }
      out_.verdict[i] = verdict;
      if (verdict == Verdict::kSteady) result.steady.add(time.ns, time.steps);
      if (at > 0) window_.push(time);
    }
    result.tail_typical = typical_or(settled);
    out_.segments.push_back(result);
  }

 private:
  [[nodiscard]] StepTime time_of(uint32_t i) const {
    return {out_.unowned_ns[i], region_.records[i + 1].step - region_.records[i].step};
  }
  [[nodiscard]] std::optional<Quotient> typical_or(const std::optional<Quotient>& settled) const {
    const std::optional<Quotient> typical = window_.typical();
    return typical.has_value() ? typical : settled;
  }

  const Region& region_;
  const Options& options_;
  Verdicts& out_;
  TypicalWindow& window_;
};

}  // namespace

Verdicts judge(const Region& region, std::span<const Owned> owned, const FoldState& state, const Options& options) {
  Verdicts out;
  out.unowned_ns.resize(region.records_end);
  out.verdict.resize(region.records_end);
  out.segments.reserve(region.segments_end);
  TypicalWindow window(state.typical);
  UnownedTime unowned(owned);
  SegmentJudge segments(region, options, out, window);
  for (uint32_t k = 0; k < region.segments_end; ++k) {
    const Segment& segment = region.segments[k];
    const uint32_t end = std::min(segment.end, region.records_end);
    for (uint32_t i = segment.begin; i + 1 < end; ++i) {
      out.unowned_ns[i] = unowned.in(region.records[i].ns, region.records[i + 1].ns);
    }
    const bool continues = k == 0 && region.continues_segment;
    segments.judge(segment, end, continues ? region.continued_intervals : 0);
  }
  out.typical = window.oldest_first();
  if (region.segments_end > 0 && region.segments[region.segments_end - 1].attempt + 1 == region.attempts_end) {
    out.segment_steady = out.segments.back().steady;
    if (region.segments_end == 1 && region.continues_segment) out.segment_steady.add(state.segment_steady);
  }
  return out;
}

}  // namespace goodput::ledger
