// SPDX-License-Identifier: Apache-2.0
#include "cli/tree.h"

#include <CLI/CLI.hpp>

namespace goodput::cli {

const CLI::App* find_command(const CLI::App& root, std::string_view name) {
  for (const CLI::App* command : root.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::vector<std::string> command_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* command : root.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<OptionWords> options_of(const CLI::App& app) {
  std::vector<OptionWords> options;
  for (const CLI::Option* option : app.get_options()) {
    OptionWords words{.names = {}, .value = "", .description = option->get_description()};
    for (const std::string& name : option->get_lnames()) words.names.push_back("--" + name);
    for (const std::string& letter : option->get_snames()) words.names.push_back("-" + letter);
    if (option->get_items_expected_max() > 0) words.value = option->get_type_name();
    words.repeatable = option->get_items_expected_max() > 1;
    options.push_back(std::move(words));
  }
  return options;
}

}  // namespace goodput::cli
