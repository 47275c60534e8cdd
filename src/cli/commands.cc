// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace goodput::cli {

std::vector<Command> commands() {
  return {run_command(),        report_command(),   jobs_command(),    attempts_command(), disruptions_command(),
          ranks_command(),      doctor_command(),   export_command(),  monitor_command(),  agent_command(),
          dashboards_command(), import_command(),   fetch_command(),   end_command(),      split_command(),
          recover_command(),    simulate_command(), version_command(), help_command(),     completion_command()};
}

}  // namespace goodput::cli
