// What the commands that name a job do first: find it in the folders that the options name, and read it.
//
//   Result<std::unique_ptr<monitor::FollowedJob>> job = follow_job(context, options->job, {});
//   if (!job.ok()) return context.fail("attempts", job.status());
//   return show_attempts(context, …(*job)->report({.now_ns = context.now_ns})…);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "ledger/options.h"
#include "monitor/followed_job.h"

namespace goodput::cli {

/// The folders of --dir, GOODPUT_DIR or the configuration, else the defaults.
std::vector<journal::Root> roots_of(const Context& context);

/// A job as it is named on the command line (NAME or NAME@RUN), with everything that is recorded of it until now.
Result<std::unique_ptr<monitor::FollowedJob>> follow_job(const Context& context, std::string_view name,
                                                         const ledger::Options& options);

}  // namespace goodput::cli
