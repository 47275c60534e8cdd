// What a ledger found odd about a log, in words, each with what to do about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ledger/answers.h"
#include "report/report.h"

namespace goodput::report {

/// Those of `overview`, and a run name used again (seen in `attempts`). `job` is named in the commands that help.
[[nodiscard]] std::vector<Finding> findings_of(const ledger::Overview& overview,
                                               const std::vector<ledger::AttemptAnswer>& attempts,
                                               const std::string& job);

/// Exclusions that exclude nothing.
[[nodiscard]] std::optional<Finding> empty_exclusions(const std::vector<std::pair<int64_t, int64_t>>& exclusions);

}  // namespace goodput::report
