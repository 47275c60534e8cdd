// Bars and ribbons of time, drawn in character cells.
//
//   page.add(stacked_bar(seconds_by_class(report), page.columns(), page.style));   // where the time went
//   const Ribbon ribbon = make_ribbon(report, page.columns());                     // when it went there
//   page.add(draw_ribbon(ribbon, page.style));
//
// With colours a cell is divided into eighths; without, each class has its letter (palette.h). Pure functions; nothing
// throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "report/terminal/line.h"

namespace goodput::report {

/// PRODUCTIVE and every badput class with time, custom events summed; the longest first, PRODUCTIVE before all.
using Shares = std::vector<std::pair<std::string, double>>;
Shares shares_of(const Report& report);

/// One bar of `columns` cells that the shares divide among them. Blank when they are nothing.
Line stacked_bar(const Shares& shares, int columns, const TerminalStyle& style);

/// A bar of one colour that fills `fraction` of `columns` cells.
Line plain_bar(double fraction, int columns, Color color, const TerminalStyle& style);

/// What each cell of a ribbon stands for: the seconds of each class in its part of the job's life.
struct Ribbon {
  int64_t start_ns = 0, end_ns = 0;
  std::vector<SecondsByName> cells{};
};

/// From the report's timeline; where it has none, from the totals of its attempts, each spread evenly over the attempt.
Ribbon make_ribbon(const Report& report, int columns);

/// Colour shows each cell as a column of its classes, three lines high. Without it, the share of productive time is
/// drawn as heights over a line of letters: the class that took most of each cell. Without Unicode, the letters alone.
std::vector<Line> draw_ribbon(const Ribbon& ribbon, const TerminalStyle& style);

/// Where the attempts begin, by their index, as far as there is room.
Line draw_attempt_marks(const Ribbon& ribbon, const std::vector<Attempt>& attempts, const TerminalStyle& style);

}  // namespace goodput::report
