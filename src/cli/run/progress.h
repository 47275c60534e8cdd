// Whether an attempt got anywhere: asked of the journals, when it has ended.
//
//   if (has_recorded_step(search_roots(folder, system_environment()), "llama-7b", "", attempt_id)) …
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/roots.h"

namespace goodput::cli {

/// True when rank 0 recorded a step in the attempt that was launched with this id; the ids of launchers between may
/// follow it in rank 0's own ("ID.none.0"). False also where no journal can be read. Reads all of the run's journals:
/// a tenth of a second for 10^7 events.
bool has_recorded_step(const std::vector<journal::Root>& roots, const std::string& job, const std::string& run_id,
                       std::string_view attempt_id);

/// `name` is the attempt's id with or without what a launcher between has added, or the count of its starts.
bool is_of_attempt(std::string_view name, std::string_view attempt_id);

}  // namespace goodput::cli
