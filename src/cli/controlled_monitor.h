// `goodput monitor --control FD`: a monitor that a training process starts and commands.
//
//   if (plan.control_fd >= 0) return run_controlled_monitor(context, plan, options, signals);
//
// It waits for the job and for sinks that another monitor still holds, exports what uploaders were started for
// (cli/monitor_control.h), each at its interval, and ends when the last one was stopped. When the training process is
// gone it goes on by the usual rules: the last word is exported, and it ends once the job is over for as long as
// --linger says, or at once when another process goes on with the job, which has a monitor of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.h"
#include "cli/monitor_options.h"
#include "cli/run/signal_queue.h"

namespace goodput::cli {

int run_controlled_monitor(Context& context, const MonitorPlan& plan, const MonitorOptions& options,
                           SignalQueue& signals);

}  // namespace goodput::cli
