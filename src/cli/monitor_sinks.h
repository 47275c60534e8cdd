// Where `goodput monitor` exports to: each sink that was asked for, behind a pipe of its own.
//
//   ASSIGN_OR_RETURN(auto sinks, open_sinks(context, plan, job));
//   Monitor monitor(job, std::move(sinks), …);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "cli/context.h"
#include "cli/monitor_options.h"
#include "exporters/pipe/pipe.h"
#include "monitor/followed_job.h"

namespace goodput::cli {

/// In the order in which they are tried; the one that is scraped last, so that it can tell how the others do.
Result<std::vector<std::unique_ptr<exporters::Pipe>>> open_sinks(Context& context, const MonitorPlan& plan,
                                                                 monitor::FollowedJob& job);

}  // namespace goodput::cli
