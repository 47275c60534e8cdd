// A disruption in one sentence, for people.
//
//   log(disruption_text(report.disruption_records.back()));   // "restart at 2026-01-01T00:58:30Z: oom; step 419 → 400,
//   …"
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report.h"

namespace goodput::exporters {

/// Whether it is known what it cost: only then it is told. Of one that nothing came after it is, once the job has
/// ended.
bool is_settled(const report::Report& report, const report::Disruption& disruption);

/// Begins with the word of its kind.
std::string disruption_text(const report::Disruption& disruption);

}  // namespace goodput::exporters
