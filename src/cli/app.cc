// SPDX-License-Identifier: Apache-2.0
#include "cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>

#include "base/environment.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "cli/terminal_style.h"
#include "cli/tree.h"
#include "report/terminal/text.h"

namespace goodput::cli {
namespace {

int64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const OptionWords& option : options_of(app)) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

class CommandLine {
 public:
  CommandLine(const std::vector<Command>& commands, FILE* out, FILE* err) : root_("", "goodput") {
    context_.out = out;
    context_.err = err;
    context_.now_ns = wall_clock_ns();
    context_.root = &root_;
    // After a command its name is a word like any other: a job may be called "report".
    root_.require_subcommand(0, 1);
    root_.set_help_flag("-h,--help", "this help");
    root_.add_flag("--version", version_, "the same as `goodput version`")->group("");
    add_global_options(root_, context_.globals, GlobalsFrom::kFlagsAndEnvironment);
    for (const Command& command : commands) {
      CLI::App* app = root_.add_subcommand(command.name, command.summary);
      app->group(command.group);
      app->footer(command.examples);
      app->set_help_flag("-h,--help", "this help");
      runs_[app] = command.define(*app);
      add_global_options(*app, context_.globals, GlobalsFrom::kFlags);
    }
  }

  int run(std::vector<std::string> arguments) {
    if (arguments.empty()) {
      context_.print(render_help(root_, help_style()));
      return kUsage;
    }
    cut_at_dashes(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
      root_.parse(arguments);
    } catch (const CLI::CallForHelp&) {
      return context_.print(render_help(asked(), help_style()));
    } catch (const CLI::ExtrasError&) {
      return usage(explain(asked().remaining(true).front()));
    } catch (const CLI::ParseError& error) {
      return usage(error.what());
    }
    if (version_) return runs_.at(find_command(root_, "version"))(context_);
    if (root_.get_subcommands().empty()) return usage("name a command: `goodput help` lists them");
    if (const std::optional<int> code = configure()) return *code;
    return runs_.at(root_.get_subcommands().front())(context_);
  }

 private:
  // What follows `--` is another program's. CLI11 (2.1) would give it to the root, where it is one word too many.
  void cut_at_dashes(std::vector<std::string>& arguments) {
    const auto names_a_command = [this](const std::string& word) { return find_command(root_, word) != nullptr; };
    const auto command = std::find_if(arguments.begin(), arguments.end(), names_a_command);
    if (command == arguments.end() || !find_command(root_, *command)->get_prefix_command()) return;
    const auto dashes = std::find(command, arguments.end(), "--");
    if (dashes == arguments.end()) return;
    context_.from_dashes.assign(dashes, arguments.end());
    arguments.erase(dashes, arguments.end());
  }

  // The subcommand that was named, else the root.
  const CLI::App& asked() const {
    const std::vector<CLI::App*> chosen = root_.get_subcommands();
    return chosen.empty() ? root_ : *chosen.front();
  }

  [[nodiscard]] report::TerminalStyle help_style() const { return context_.style(); }

  int usage(const std::string& message) {
    const std::string name = &asked() == &root_ ? "goodput" : "goodput " + asked().get_name();
    fmt::print(context_.err, "{}: {}\n", name, report::printable(message, locale_is_utf8()));
    return kUsage;
  }

  // One sentence about a word that has no place.
  [[nodiscard]] std::string explain(const std::string& word) const {
    const bool is_option = word.size() > 1 && word[0] == '-';
    const bool is_command = &asked() == &root_ && !is_option;
    const std::string page = &asked() == &root_ ? "goodput --help" : "goodput " + asked().get_name() + " --help";
    if (!is_option && !is_command) return fmt::format("`{}` is one word too many; see `{}`", word, page);
    const std::string text = fmt::format("there is no {} `{}`", is_option ? "option" : "command", word);
    const std::string nearest = suggest(word, is_option ? option_names(asked()) : command_names(root_));
    return text + (nearest.empty() ? fmt::format("; see `{}`", page) : fmt::format("; did you mean `{}`?", nearest));
  }

  // Gives options that neither flag nor environment set what the configuration file says; an exit code on failure.
  std::optional<int> configure() {
    Result<Config> config = load_config(context_.globals.config);
    if (!config.ok()) return context_.fail(asked().get_name(), config.status());
    context_.config = std::move(*config);
    find_usual_store();
    CLI::App& chosen = *root_.get_subcommands().front();
    try {
      for (CLI::Option* option : root_.get_options()) apply(*option, "", chosen);
      for (CLI::Option* option : chosen.get_options()) {
        if (option->get_group() != kGlobalGroup) apply(*option, chosen.get_name() + ".", chosen);
      }
    } catch (const CLI::ParseError& error) {
      return usage(fmt::format("reading {}: {}", context_.config.path(), error.what()));
    }
    note_unknown_keys();
    return std::nullopt;
  }

  void find_usual_store() {
    const std::vector<std::string>* configured = context_.config.find("store");
    if (configured != nullptr && !configured->empty()) context_.globals.usual_store = configured->front();
    if (const auto named = system_environment()("GOODPUT_STORE")) context_.globals.usual_store = *named;
  }

  void apply(CLI::Option& option, const std::string& prefix, const CLI::App& chosen) {
    if (option.get_lnames().empty() || option.count() > 0) return;
    const std::string& name = option.get_lnames().front();
    if (name == "help" || name == "version" || name == "config" || name == "store") return;
    const CLI::Option* twin = chosen.get_option_no_throw("--" + name);
    if (prefix.empty() && twin != nullptr && twin->get_group() == kGlobalGroup && twin->count() > 0) return;
    const std::vector<std::string>* texts = context_.config.find(prefix + name);
    // `currency` at the top of the file serves every command that has such an option.
    if (texts == nullptr && !prefix.empty()) texts = context_.config.find(name);
    if (texts == nullptr) return;
    for (const std::string& text : *texts) option.add_result(text);
    option.run_callback();
  }

  // A key that means nothing is a slip of the pen, unless its section is that of a command of another version.
  void note_unknown_keys() {
    for (const std::string& key : context_.config.keys()) {
      const size_t dot = key.find('.');
      const CLI::App* app = dot == std::string::npos ? nullptr : find_command(root_, key.substr(0, dot));
      bool known = dot != std::string::npos && app == nullptr;
      if (app != nullptr) known = app->get_option_no_throw("--" + key.substr(dot + 1)) != nullptr;
      if (dot == std::string::npos) {
        known = root_.get_option_no_throw("--" + key) != nullptr;
        for (const auto& [command, run] : runs_) known = known || command->get_option_no_throw("--" + key) != nullptr;
      }
      if (!known) context_.note(fmt::format("{}: `{}` is no option and was ignored", context_.config.path(), key));
    }
  }

  Context context_;
  bool version_ = false;
  CLI::App root_;
  std::map<const CLI::App*, Run> runs_;
};

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, const std::vector<Command>& commands, FILE* out,
                     FILE* err) {
  try {
    return CommandLine(commands, out, err).run(arguments);
  } catch (const std::exception& error) {  // of a library: nothing of ours throws
    fmt::print(err, "goodput: {}\n", error.what());
    return kCannot;
  }
}

}  // namespace goodput::cli
