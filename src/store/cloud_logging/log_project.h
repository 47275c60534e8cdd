// The project of a log whose address leaves it to where this program runs: cloud-logging://auto/LOG.
//
//   ASSIGN_OR_RETURN(const LogAddress log, with_project(address, {}));      // "auto" → "my-project"
//
// Asks the metadata server where nobody names a project, for a second at most. Thread-safe, nothing kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/environment.h"
#include "base/status.h"
#include "store/cloud_logging/log_address.h"

namespace goodput::store {

/// In place of a project's name: the one of these credentials, or of this machine.
constexpr std::string_view kAutoProject = "auto";

/// `address`, if it names its project. kNotFound: no project is known here. Other failures: credentials are named that
/// are not there or wrong.
Result<LogAddress> with_project(LogAddress address, const Environment& environment = system_environment(),
                                const std::atomic<bool>* is_cancelled = nullptr);

}  // namespace goodput::store
