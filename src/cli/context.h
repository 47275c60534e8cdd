// What every subcommand is given: the global options, the configuration, where to write, and the time.
//
//   int run_jobs(Context& context, const JobsOptions& options) {
//     Result<std::vector<JobSummary>> jobs = …;
//     if (!jobs.ok()) return context.fail("jobs", jobs.status());
//     return context.print(context.globals.json ? jobs_to_json(*jobs, context.json_form()) : render_jobs(*jobs,
//     context.style()));
//   }
//
// A command writes its answer with print() and its complaints with fail() or note(), and returns what they return.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/config.h"
#include "cli/globals.h"
#include "report/json.h"
#include "report/terminal.h"

namespace CLI {
class App;
}

namespace goodput::cli {

struct Context {
  Globals globals{};
  Config config{};
  FILE* out = stdout;
  FILE* err = stderr;
  int64_t now_ns = 0;                      ///< when the command began, wall clock
  const CLI::App* root = nullptr;          ///< the whole command line, for help and completion
  std::vector<std::string> from_dashes{};  ///< `--` and what follows, for a command that launches another

  /// What `out` can show.
  [[nodiscard]] report::TerminalStyle style() const;
  /// Indented for a person at a terminal, one line for a program.
  [[nodiscard]] report::JsonForm json_form() const;

  /// Writes all of `text` to `out`: kDone, or kCannot with the reason on `err`.
  int print(std::string_view text);
  /// What a command did, with its words for people and the object for machines; neither with --quiet, unless --json.
  int print_done(std::string_view words, std::string_view json);
  /// "goodput COMMAND: MESSAGE" on `err`; the exit code that fits the status' code.
  int fail(std::string_view command, const Status& status);
  /// A remark on `err`, unless --quiet.
  void note(std::string_view message);
};

/// kUsage for what the caller got wrong, kAnswerIsNo for what is not there, kCannot for the rest.
int exit_code_of(StatusCode code);

}  // namespace goodput::cli
