// Help pages, made from the command line's own description.
//
//   std::string page = render_help(root, style);            // all commands, by group
//   std::string page = render_help(*subcommand, style);     // one: usage, options, examples
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/terminal.h"

namespace CLI {
class App;
}

namespace goodput::cli {

/// Lines within the style's columns. Pure.
std::string render_help(const CLI::App& app, const report::TerminalStyle& style);

}  // namespace goodput::cli
