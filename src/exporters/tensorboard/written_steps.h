// Which steps a file has, so that each is written once, and again when it was done again.
//
//   if (written.is_new({step, seconds})) { write(…); written.add({step, seconds}); }
//
// Only the latest are known, by step: what is older than those is taken as written, as long as what comes may be the
// job's history. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exporters/exporter.h"

namespace goodput::exporters {

class WrittenSteps {
 public:
  [[nodiscard]] bool is_new(const StepPoint& point) const {
    if (steps_.empty() || point.step > steps_.back().step) return true;
    if (point.step < steps_.front().step) return !is_cut_ || !may_be_history_;
    const auto at = find(point.step);
    return at->step != point.step || at->value != static_cast<float>(point.seconds);
  }

  /// From here on comes what has just happened: a step that stands before those that are known was done again.
  void history_is_over() { may_be_history_ = false; }

  /// Readers forget what stands at and beyond a step that comes again; so does this.
  void add(const StepPoint& point) {
    if (!steps_.empty() && point.step <= steps_.back().step) steps_.erase(find(point.step), steps_.end());
    steps_.push_back({point.step, static_cast<float>(point.seconds)});
    if (steps_.size() < 2 * kKept) return;
    steps_.erase(steps_.begin(), steps_.begin() + kKept);
    is_cut_ = true;
  }

 private:
  static constexpr ptrdiff_t kKept = 20'000;  // more than a rollback to a checkpoint takes back
  struct Written {
    int64_t step;
    float value;  ///< as the file has it
  };

  [[nodiscard]] std::vector<Written>::const_iterator find(int64_t step) const {
    return std::lower_bound(steps_.begin(), steps_.end(), step,
                            [](const Written& written, int64_t wanted) { return written.step < wanted; });
  }

  std::vector<Written> steps_;  // ascending
  bool is_cut_ = false;
  bool may_be_history_ = true;
};

}  // namespace goodput::exporters
