// The executable `goodput`.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>

#include "cli/app.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return goodput::cli::run_command_line(arguments, goodput::cli::commands(), stdout, stderr);
}
