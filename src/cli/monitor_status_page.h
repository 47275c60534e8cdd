// `goodput monitor JOB --status`: how the monitors of a job are, each with its exporters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/context.h"

namespace goodput::cli {

/// kDone when one is running, kAnswerIsNo when none is.
int show_monitor_status(Context& context, const std::string& job);

}  // namespace goodput::cli
