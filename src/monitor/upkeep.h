// What a reader does for a job's folder once its answer is there: it seals the journals of the dead, and writes indexes
// of their ranks for those who ask next.
//
//   const Result<report::Report> report = report::build(ledger, question);
//   tend(log, clock);
//
// Nothing of it changes an answer, nothing of it can fail. Only what is ours is touched: folders of this user that are
// closed to others, journals whose process is known to be dead, under their locks. Where nothing can be written nothing
// is left behind. Other readers and writers may be at work meanwhile. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "journal/job_log.h"

namespace goodput::monitor {

/// Whoever asked waits for it, and a sync may take tens of milliseconds: what is not done within half a second is left
/// to the next.
void tend(journal::JobLog& log, const Clock& clock);

}  // namespace goodput::monitor
