// What a reader does for a job's folder once its answer is there: it seals the journals of the dead, and keeps for
// those who ask next the indexes of their ranks and the account so far, within a disk budget.
//
//   const Result<report::Report> report = report::build(ledger, question);
//   tend(log, ledger, {.budget_bytes = kDiskBudgetBytes}, [] { return true; }, clock);
//
// Nothing of it changes an answer, nothing of it can fail. Only what is ours is touched: folders of this user that are
// closed to others, journals whose process is known to be dead, under their locks. Where nothing can be written nothing
// is left behind. Other readers and writers may be at work meanwhile. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/function_ref.h"
#include "journal/job_log.h"
#include "ledger/ledger.h"

namespace goodput::monitor {

struct Upkeep {
  bool is_usual = true;       ///< the ledger's options are the usual ones: only then its account is kept
  uint64_t budget_bytes = 0;  ///< of each run's folder (monitor/disk_budget.h); 0: none
};

/// Whoever asked waits for it, and a sync may take tens of milliseconds: what is not done within half a second is left
/// to the next. `ledger` has been given all that `log` gave. `is_worth_it` is asked in the end, whether to keep the
/// account again; true when it was kept.
bool tend(journal::JobLog& log, ledger::Ledger& ledger, const Upkeep& upkeep, FunctionRef<bool()> is_worth_it,
          const Clock& clock);

}  // namespace goodput::monitor
