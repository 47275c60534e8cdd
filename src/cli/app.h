// The command line as a whole: builds it from the registry, reads flags, environment and configuration, runs a command.
//
//   int main(int argc, char** argv) {
//     return goodput::cli::run_command_line({argv + 1, argv + argc}, commands(), stdout, stderr);
//   }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"

namespace goodput::cli {

/// `arguments` without the program's name. Returns the exit code; nothing throws.
int run_command_line(const std::vector<std::string>& arguments, const std::vector<Command>& commands, FILE* out,
                     FILE* err);

}  // namespace goodput::cli
