// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/globals.h"
#include "cli/tree.h"
#include "report/terminal/line.h"
#include "report/terminal/palette.h"
#include "report/terminal/text.h"

namespace goodput::cli {
namespace {

using report::Line;
using report::Page;

constexpr const char* kBanner =
    "goodput tells how much accelerator time became preserved progress, and where the rest went.";
// Descriptions begin here; longer names have a line of their own.
constexpr int kDescriptionColumn = 28;

void add_title(Page& page, const std::string& title) {
  page.add_blank();
  page.add(Line(title, {.foreground = report::kAccent, .bold = true}));
}

void add_entry(Page& page, const std::string& name, const std::string& description) {
  Line line("  ");
  line.add(name, {.bold = true});
  if (line.columns() >= kDescriptionColumn) {
    page.add(line);
    line = Line();
  }
  for (const std::string& part : report::wrap(description, std::max(20, page.columns() - kDescriptionColumn))) {
    line.pad_to(kDescriptionColumn).add(part);
    page.add(line);
    line = Line();
  }
}

std::string option_name(const CLI::Option& option) {
  std::string name;
  for (const std::string& letter : option.get_snames()) name += (name.empty() ? "-" : ", -") + letter;
  for (const std::string& word : option.get_lnames()) name += (name.empty() ? "--" : ", --") + word;
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) name += " " + option.get_type_name();
  return name;
}

std::string option_description(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_items_expected_max() > 1) text += " (may be given several times)";
  if (!option.get_envname().empty()) text += " [" + option.get_envname() + "]";
  return text;
}

void add_options(Page& page, const CLI::App& app, const std::string& group, const std::string& title) {
  bool first = true;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group() != group) continue;
    if (first) add_title(page, title);
    first = false;
    add_entry(page, option_name(*option), option_description(*option));
  }
}

// What TIME and DURATION stand for, on pages that have one.
void add_value_forms(Page& page, const CLI::App& app) {
  bool times = false, durations = false;
  for (const OptionWords& option : options_of(app)) {
    times = times || option.value.find("TIME") != std::string::npos;
    durations = durations || option.value == "DURATION";
  }
  if (!times && !durations) return;
  add_title(page, "Values");
  if (times)
    add_entry(page, "TIME", "1767225600.5, 2026-01-01T00:00:00Z (UTC without a zone), or relative to now: -2h");
  if (durations) add_entry(page, "DURATION", "seconds, or a number with a unit: 90s, 15m, 24h, 7d");
}

void add_examples(Page& page, const std::string& examples) {
  if (examples.empty()) return;
  add_title(page, "Examples");
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) page.add(Line("  " + line));
}

// The first example of each command that launches or asks.
std::string root_examples(const CLI::App& root) {
  std::string text;
  for (const char* group : {kLaunch, kAsk}) {
    for (const CLI::App* command : root.get_subcommands({})) {
      const std::string examples = command->get_footer();
      if (command->get_group() == group && !examples.empty()) text += examples.substr(0, examples.find('\n')) + "\n";
    }
  }
  return text;
}

std::string usage(const CLI::App& app, const std::string& more) {
  std::string text = "Usage: goodput " + app.get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_type_name() + (option->get_items_expected_max() > 1 ? more : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  text += " [OPTION]" + more;
  if (app.get_prefix_command()) text += " -- COMMAND" + more;
  return text;
}

std::string as_sentence(std::string summary) {
  if (summary.empty()) return summary;
  summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
  return summary + ".";
}

void add_commands(Page& page, const CLI::App& root) {
  for (const char* group : {kLaunch, kAsk, kWatch, kKeep, kSelf}) {
    bool first = true;
    for (const CLI::App* command : root.get_subcommands({})) {
      if (command->get_group() != group) continue;
      if (first) add_title(page, group);
      first = false;
      add_entry(page, command->get_name(), command->get_description());
    }
  }
}

}  // namespace

std::string render_help(const CLI::App& app, const report::TerminalStyle& style) {
  Page page(style);
  const std::string more = page.style.unicode ? "…" : "...";
  const bool is_root = app.get_parent() == nullptr;
  const std::string banner = is_root ? kBanner : as_sentence(app.get_description());
  for (const std::string& line : report::wrap(banner, page.columns())) page.add(Line(line));
  page.add_blank();
  if (is_root) {
    page.add(Line("Usage: goodput COMMAND [OPTION]" + more));
    add_commands(page, app);
  } else {
    page.add(Line(usage(app, more)));
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional()) add_entry(page, option->get_type_name(), option->get_description());
    }
    add_options(page, app, "Options", "Options");
  }
  add_options(page, app, kGlobalGroup, kGlobalGroup);
  add_value_forms(page, app);
  add_examples(page, is_root ? root_examples(app) : app.get_footer());
  return page.render();
}

}  // namespace goodput::cli
