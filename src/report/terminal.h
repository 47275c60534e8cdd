// The report for people: a page of text for a terminal, a pipe or a mail.
//
// Use render_report() where a person reads. The style says what the place can show; cli/terminal_style.h finds that out
// for a stream. The same report and style give the same bytes.
//
//   TerminalStyle style{.columns = 100, .unicode = true, .colors = ColorDepth::k256};
//   std::fputs(render_report(report, style).c_str(), stdout);
//   std::fputs(render_attempts(report, style).c_str(), stdout);
//
// Every name that users, logs or machines gave is escaped: no byte of it reaches the terminal as a command. Lines are
// at most `columns` long and end without blanks. Pure functions; nothing throws. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "report/jobs.h"
#include "report/report.h"

namespace goodput::report {

enum class ColorDepth : uint8_t {
  kNone,  ///< plain text without escape sequences: bars are drawn in letters
  k16,
  k256,
};

struct TerminalStyle {
  int columns = 80;  ///< taken as at least kMinColumns and at most kMaxColumns
  bool unicode = true;
  ColorDepth colors = ColorDepth::kNone;
};
constexpr int kMinColumns = 60;
constexpr int kMaxColumns = 160;

/// The whole page: headline, where the time went, the ribbon of the attempts, breakdown, disruptions, steps, ranks,
/// data quality, and what to do about it.
std::string render_report(const Report& report, const TerminalStyle& style);

/// Tables, one line an entry, under a title that says of what.
std::string render_attempts(const Report& report, const TerminalStyle& style);
std::string render_disruptions(const Report& report, const TerminalStyle& style);
std::string render_ranks(const Report& report, const TerminalStyle& style);
std::string render_jobs(std::span<const JobSummary> jobs, const TerminalStyle& style);

}  // namespace goodput::report
