// An option that takes one of a few words.
//
//   add_choice(app, "--format", options.format, "what to write", "jsonl|csv|trace");
//
// Help shows the words and completion offers them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace goodput::cli {

/// `value`, which holds the default, must live as long as `app`. Other words are a usage error that lists these.
void add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& description,
                const std::string& words);

}  // namespace goodput::cli
