// A subcommand: its words in the help, its options, and what runs when it is chosen. One file each defines one.
//
//   Command jobs_command() {
//     return {.name = "jobs", .group = kAsk, .summary = "all jobs, one a line", .examples = "goodput jobs --json",
//             .define = [](CLI::App& app) -> Run {
//               auto options = std::make_shared<JobsOptions>();
//               app.add_option("--label", options->labels, "only jobs with this label")->type_name("K=V");
//               return [options](Context& context) { return run_jobs(context, *options); };
//             }};
//   }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/context.h"

namespace goodput::cli {

/// Does the work once all options have their values; the result is the exit code.
using Run = std::function<int(Context&)>;

struct Command {
  std::string name;
  std::string group;     ///< one of the titles below
  std::string summary;   ///< one line, without a full stop
  std::string examples;  ///< whole command lines, one a line
  std::function<Run(CLI::App&)> define;
};

// The titles under which help lists commands, in this order.
constexpr const char* kLaunch = "Launch";
constexpr const char* kAsk = "Ask";
constexpr const char* kWatch = "Watch";
constexpr const char* kKeep = "Keep and move records";
constexpr const char* kSelf = "About goodput";

/// Every command of this executable, in the order of the help.
std::vector<Command> commands();

Command run_command();
Command report_command();
Command jobs_command();
Command attempts_command();
Command disruptions_command();
Command ranks_command();
Command doctor_command();
Command export_command();
Command import_command();
Command fetch_command();
Command recover_command();
Command simulate_command();
Command end_command();
Command split_command();
Command monitor_command();
Command agent_command();
Command dashboards_command();
Command version_command();
Command help_command();
Command completion_command();

}  // namespace goodput::cli
