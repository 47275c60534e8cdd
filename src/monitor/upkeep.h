// What a reader does for a job's folder once its answer is there: it seals the journals of the dead.
//
//   const Result<report::Report> report = report::build(ledger, question);
//   tend(log, clock);                                    // nothing of it changes an answer, nothing of it can fail
//
// Only what is ours is touched: folders of this user, journals whose process is known to be dead, under their locks;
// on a folder that cannot be written nothing is left behind. Other readers and writers may be at work meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "journal/job_log.h"

namespace goodput::monitor {

/// Replaces the live segments of dead processes by sealed ones: rank 0's first. Whoever asked waits for it, and a sync
/// may take tens of milliseconds: what is not done within 300 ms is left to the next.
void seal_the_dead(const journal::JobLog& log, const Clock& clock);

}  // namespace goodput::monitor
