// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/lower.h"

namespace goodput::cli {
namespace {

// Unset and empty are the same, as POSIX has it for these variables.
std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int columns_of_terminal(int descriptor) {
  const std::string_view set = environment("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(set.data(), set.data() + set.size(), columns);
  if (error == std::errc() && end == set.data() + set.size() && columns > 0) return columns;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

report::ColorDepth colors_of_terminal(int descriptor, bool no_color) {
  const std::string_view terminal = environment("TERM");
  const bool wanted = !no_color && environment("NO_COLOR").empty();
  if (!wanted || isatty(descriptor) != 1 || terminal.empty() || terminal == "dumb") return report::ColorDepth::kNone;
  const bool many = terminal.find("256color") != std::string_view::npos || !environment("COLORTERM").empty();
  return many ? report::ColorDepth::k256 : report::ColorDepth::k16;
}

}  // namespace

bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    locale = environment(name);
    if (!locale.empty()) break;
  }
  locale = lower(locale);
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

report::TerminalStyle detect_style(int descriptor, bool no_color) {
  return {.columns = columns_of_terminal(descriptor),
          .unicode = locale_is_utf8(),
          .colors = colors_of_terminal(descriptor, no_color)};
}

}  // namespace goodput::cli
