// A region of a job read again, ready to be accounted under any surroundings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "ledger/account.h"
#include "ledger/fold.h"
#include "ledger/options.h"
#include "ledger/ownership.h"
#include "ledger/partition.h"
#include "ledger/region.h"
#include "ledger/tally.h"
#include "ledger/verdicts.h"

namespace goodput::ledger {

class Replayed {
 public:
  /// `fold` is cut and settled, or closed.
  Replayed(FoldState begin, Fold& fold, const Options& options)
      : begin_(std::move(begin)),
        region_(fold.take()),
        owned_(owned_time(region_)),
        verdicts_(judge(region_, owned_, begin_, options)),
        options_(options) {
    if (fold.is_cut()) {
      end_ = fold.cut_state();
      end_.typical = verdicts_.typical;
      end_.segment_steady = verdicts_.segment_steady;
    }
  }

  [[nodiscard]] RegionAccount account(const Surroundings& around) const {
    Tally tally;
    return partition(region_, owned_, verdicts_, begin_, around, options_, tally);
  }
  /// The same with time only where it lies in `inside`; the rest of the account is that of the whole region.
  [[nodiscard]] RegionAccount account(const Surroundings& around, std::span<const Interval> inside) const {
    Tally tally(inside);
    return partition(region_, owned_, verdicts_, begin_, around, options_, tally);
  }

  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] const Verdicts& verdicts() const { return verdicts_; }
  [[nodiscard]] const FoldState& end() const { return end_; }

 private:
  FoldState begin_;
  Region region_;
  std::vector<Owned> owned_;
  Verdicts verdicts_;
  FoldState end_;
  Options options_;
};

}  // namespace goodput::ledger
