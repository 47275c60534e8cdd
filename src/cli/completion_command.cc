// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/completion.h"

namespace goodput::cli {
namespace {

int run_completion(Context& context, const std::string& shell) {
  if (shell == "bash") return context.print(bash_completion(*context.root));
  if (shell == "zsh") return context.print(zsh_completion(*context.root));
  return context.fail("completion", {StatusCode::kInvalidArgument, "name a shell: bash or zsh"});
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .group = kSelf,
          .summary = "a script that lets bash or zsh complete goodput's commands and options",
          .examples = "source <(goodput completion bash)\ngoodput completion zsh > \"${fpath[1]}/_goodput\"",
          .define = [](CLI::App& app) -> Run {
            auto shell = std::make_shared<std::string>();
            app.add_option("shell", *shell, "the shell")->type_name("bash|zsh");
            return [shell](Context& context) { return run_completion(context, *shell); };
          }};
}

}  // namespace goodput::cli
