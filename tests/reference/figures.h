// Inside the reference: the numbers beside the partition.
//
//   Figures figures = figures_of(job, steps, partition);
//   std::vector<DisruptionRecord> records = disruptions_of(job, steps, partition);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/partition.h"

namespace goodput::reference {

Figures figures_of(const Job& job, const Steps& steps, const Partition& partition);
std::vector<DisruptionRecord> disruptions_of(const Job& job, const Steps& steps, const Partition& partition);

/// Time by class in [from, to).
Totals clipped(const std::vector<Piece>& pieces, const Rational& from_ns, const Rational& to_ns);

}  // namespace goodput::reference
