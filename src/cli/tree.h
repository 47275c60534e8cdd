// The command line's tree of commands and options, read by help, completion and suggestions alike.
//
//   const CLI::App* report = find_command(root, "report");
//   for (const OptionWords& option : options_of(*report)) …
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace goodput::cli {

/// Null when there is none of that name. Lives as long as `root`.
const CLI::App* find_command(const CLI::App& root, std::string_view name);

std::vector<std::string> command_names(const CLI::App& root);

struct OptionWords {
  std::vector<std::string> names;  ///< "--json", "-h"; none for a word that stands by itself
  std::string value;               ///< what it takes: "FILE", "DIR", "jsonl|csv|trace", …; empty for a flag
  std::string description;
  bool repeatable = false;
};

/// Those that may be typed, globals included, and the words that stand by themselves.
std::vector<OptionWords> options_of(const CLI::App& app);

}  // namespace goodput::cli
