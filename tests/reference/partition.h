// Inside the reference: rules 1 to 11 laid over the wall clock.
//
//   Partition partition = partition_of(job, steps, options);
//   for (const Piece& piece : partition.pieces) total += piece.end_ns - piece.start_ns;
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/job.h"
#include "reference/steps.h"

namespace goodput::reference {

struct Partition {
  std::vector<Piece> pieces;
  std::vector<Rational> down_from;        ///< by attempt: where INFRASTRUCTURE_RECOVERY begins (rules 1 and 3)
  std::vector<bool> last_step_completed;  ///< by segment: a believed step end closed its last step
};

Partition partition_of(const Job& job, const Steps& steps, const Options& options);

/// The recorded end of the segment's last step, where it is believed ("Step ends" under rule 5) given the lowest later
/// resume step.
std::optional<int64_t> believed_end(const Job& job, const Steps& steps, size_t segment, std::optional<int64_t> resume);

}  // namespace goodput::reference
