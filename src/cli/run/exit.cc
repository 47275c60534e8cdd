// SPDX-License-Identifier: Apache-2.0
#include "cli/run/exit.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/run/signal_names.h"

namespace goodput::cli {

Exit exit_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {.signal = WTERMSIG(wait_status)};
  return {.code = WEXITSTATUS(wait_status)};
}

std::string describe(const Exit& exit) {
  const std::string how = exit.signal == 0 ? fmt::format("ended with code {}", exit.code)
                                           : fmt::format("was ended by {}", signal_name(exit.signal));
  return exit.out_of_memory ? how + ", out of memory" : how;
}

}  // namespace goodput::cli
