// SPDX-License-Identifier: Apache-2.0
#include "cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "cli/exit_code.h"
#include "cli/terminal_style.h"
#include "report/terminal/text.h"

namespace goodput::cli {

report::TerminalStyle Context::style() const { return detect_style(fileno(out), globals.no_color); }

report::JsonForm Context::json_form() const {
  return isatty(fileno(out)) == 1 ? report::JsonForm::kIndented : report::JsonForm::kOneLine;
}

int Context::print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0;
  if (written) return kDone;
  // A reader that has seen enough is nothing to complain of.
  if (errno != EPIPE) fmt::print(err, "goodput: writing the output: {}\n", std::strerror(errno));
  return kCannot;
}

int Context::print_done(std::string_view words, std::string_view json) {
  if (globals.json) return print(std::string(json) + "\n");
  return globals.quiet ? kDone : print(words);
}

int Context::fail(std::string_view command, const Status& status) {
  // Messages quote names of jobs and files, which may hold anything.
  const std::string message = report::printable(status.message(), locale_is_utf8());
  fmt::print(err, "goodput {}: {}\n", command, message);
  return exit_code_of(status.code());
}

void Context::note(std::string_view message) {
  if (!globals.quiet) fmt::print(err, "goodput: {}\n", report::printable(message, locale_is_utf8()));
}

int exit_code_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return kDone;
    case StatusCode::kInvalidArgument:
      return kUsage;
    case StatusCode::kNotFound:
      return kAnswerIsNo;
    default:
      return kCannot;
  }
}

}  // namespace goodput::cli
