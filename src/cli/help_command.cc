// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/tree.h"

namespace goodput::cli {
namespace {

int run_help(Context& context, const std::string& command) {
  const CLI::App* app = command.empty() ? context.root : find_command(*context.root, command);
  if (app == nullptr) {
    return context.fail(
        "help", {StatusCode::kInvalidArgument, "there is no command `" + command + "`; `goodput help` lists them"});
  }
  return context.print(render_help(*app, context.style()));
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .group = kSelf,
          .summary = "this page, or that of one command",
          .examples = "goodput help completion",
          .define = [](CLI::App& app) -> Run {
            auto command = std::make_shared<std::string>();
            app.add_option("command", *command, "the command to explain")->type_name("COMMAND");
            return [command](Context& context) { return run_help(context, *command); };
          }};
}

}  // namespace goodput::cli
