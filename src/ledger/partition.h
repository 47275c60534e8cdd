// Rules 1 to 11 of docs/semantics.md over one region: every instant of it into one class.
//
//   Tally tally;
//   RegionAccount account = partition(region, owned, verdicts, state, surroundings, tally);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ledger/account.h"
#include "ledger/options.h"
#include "ledger/tally.h"
#include "ledger/verdicts.h"

namespace goodput::ledger {

/// `state` is what the region's fold began with. Pieces go to `tally` in time order and tile [begin_ns, end_ns).
[[nodiscard]] RegionAccount partition(const Region& region, std::span<const Owned> owned, const Verdicts& verdicts,
                                      const FoldState& state, const Surroundings& surroundings, const Options& options,
                                      Tally& tally);

/// Rule 9: what warm-up took beyond ordinary steps.
[[nodiscard]] int64_t startup_excess_ns(const StepSums& warmup, const StepSums& mean);

}  // namespace goodput::ledger
