// SPDX-License-Identifier: Apache-2.0
#include "cli/choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace goodput::cli {

void add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& description,
                const std::string& words) {
  const std::vector<std::string> known = CLI::detail::split(words, '|');
  const auto check = [known, words](const std::string& text) -> std::string {
    return std::find(known.begin(), known.end(), text) != known.end() ? "" : "`" + text + "` is none of " + words;
  };
  app.add_option(name, value, description)->type_name(words)->check(CLI::Validator(check, ""));
}

}  // namespace goodput::cli
