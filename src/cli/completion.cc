// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/tree.h"

namespace goodput::cli {
namespace {

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// "jsonl|csv|trace" lists words; "FILE" names a kind of value.
std::vector<std::string> choices_of(const std::string& value) {
  if (value.find('|') == std::string::npos) return {};
  return CLI::detail::split(value, '|');
}

// What a shell offers for the value of options: one branch of bash's `case` on the word before.
std::string bash_value_branch(const OptionWords& option) {
  std::string offer = ":";
  if (option.value == "FILE") offer = "COMPREPLY=($(compgen -f -- \"$word\"))";
  if (option.value == "DIR") offer = "COMPREPLY=($(compgen -d -- \"$word\"))";
  if (const std::vector<std::string> words = choices_of(option.value); !words.empty()) {
    offer = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", join(words, " "));
  }
  return fmt::format("        {}) {}; return ;;\n", join(option.names, "|"), offer);
}

// The words that may stand by themselves: those of a choice, or the commands.
std::vector<std::string> standing_words(const OptionWords& option, const std::vector<std::string>& commands) {
  return option.value == "COMMAND" ? commands : choices_of(option.value);
}

std::string bash_command(const CLI::App& app, const std::vector<std::string>& commands) {
  std::string values;
  std::vector<std::string> words;
  for (const OptionWords& option : options_of(app)) {
    const std::vector<std::string> offered = option.names.empty() ? standing_words(option, commands) : option.names;
    words.insert(words.end(), offered.begin(), offered.end());
    if (!option.value.empty() && !option.names.empty()) values += bash_value_branch(option);
  }
  std::string out = fmt::format("    {})\n", app.get_name());
  if (!values.empty()) out += "      case \"$before\" in\n" + values + "      esac\n";
  return out + fmt::format("      words='{}' ;;\n", join(words, " "));
}

// A description inside a single-quoted specification of _arguments.
std::string zsh_text(std::string text) {
  for (const std::string_view special : {"\\", "[", "]", ":"})
    text = replace_all(text, special, "\\" + std::string(special));
  return replace_all(text, "'", "'\\''");
}

std::string zsh_value(const OptionWords& option) {
  if (option.value.empty()) return "";
  if (option.value == "FILE") return ":file:_files";
  if (option.value == "DIR") return ":folder:_files -/";
  if (const std::vector<std::string> words = choices_of(option.value); !words.empty()) {
    return fmt::format(":{}:({})", "value", join(words, " "));
  }
  return fmt::format(":{}: ", zsh_text(option.value));
}

std::string zsh_options(const CLI::App& app) {
  std::string out;
  for (const OptionWords& option : options_of(app)) {
    if (option.names.empty()) {
      const bool command = option.value == "COMMAND";
      out += fmt::format(" \\\n        '{}{}'", option.repeatable ? "*:argument" : ":argument",
                         command ? ":_goodput_commands" : zsh_value(option).substr(zsh_value(option).find(':', 1)));
    }
    for (const std::string& name : option.names) {
      out += fmt::format(" \\\n        '{}{}[{}]{}'", option.repeatable ? "*" : "", name, zsh_text(option.description),
                         zsh_value(option));
    }
  }
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::string branches;
  for (const CLI::App* command : root.get_subcommands({})) branches += bash_command(*command, command_names(root));
  const std::vector<std::string> commands = command_names(root);
  std::vector<std::string> globals;
  std::vector<std::string> with_value;
  for (const OptionWords& option : options_of(root)) {
    globals.insert(globals.end(), option.names.begin(), option.names.end());
    if (!option.value.empty()) with_value.insert(with_value.end(), option.names.begin(), option.names.end());
  }
  return fmt::format(
      R"(# Completion of goodput for bash. Made by `goodput completion bash`.
_goodput() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command= words= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in
      {0}) ((i++)) ;;
      --) return ;;
      -*) ;;
      *) command="${{COMP_WORDS[i]}}"; break ;;
    esac
  done
  case "$command" in
    '') words='{1} {2}' ;;
{3}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _goodput goodput
)",
      with_value.empty() ? "--" : join(with_value, "|"), join(commands, " "), join(globals, " "), branches);
}

std::string zsh_completion(const CLI::App& root) {
  std::string commands;
  std::string branches;
  for (const CLI::App* command : root.get_subcommands({})) {
    commands += fmt::format("\n    '{}:{}'", command->get_name(), zsh_text(command->get_description()));
    branches += fmt::format("    {})\n      _arguments{} ;;\n", command->get_name(), zsh_options(*command));
  }
  return fmt::format(
      R"(#compdef goodput
# Completion of goodput for zsh. Made by `goodput completion zsh`.
_goodput_commands() {{
  local -a commands=({0}
  )
  _describe command commands
}}
_goodput() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C{1} \
        '1:command:_goodput_commands' '*::argument:->argument'
  [ "$state" = argument ] || return
  case "$line[1]" in
{2}  esac
}}
if [ "$funcstack[1]" = _goodput ]; then _goodput "$@"; else compdef _goodput goodput; fi
)",
      commands, zsh_options(root), branches);
}

}  // namespace goodput::cli
