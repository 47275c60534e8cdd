// The parts of the report's page, each a function that adds lines to it.
//
//   Page page{.style = style};
//   add_headline(page, report);
//   add_where_the_time_went(page, report);
//
// A part that has nothing to say adds nothing. Pure functions; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "report/report.h"
#include "report/terminal/line.h"
#include "report/terminal/table.h"

namespace goodput::report {

/// Job, status, goodput in large figures, of what, and what it is worth.
void add_headline(Page& page, const Report& report);

/// The bar of all classes, with its legend.
void add_where_the_time_went(Page& page, const Report& report);

/// The ribbon of the attempts over time.
void add_timeline(Page& page, const Report& report);

/// Every class: time, share, accelerator-hours, cost.
void add_breakdown(Page& page, const Report& report);

/// How often, how long, why; the latest few in a table.
void add_disruptions(Page& page, const Report& report);

void add_steps(Page& page, const Report& report);
void add_windows(Page& page, const Report& report);
void add_ranks(Page& page, const Report& report);

/// Findings, each with its fix.
void add_data_quality(Page& page, const Report& report);

/// What to do, the most worthwhile first.
void add_hints(Page& page, const Report& report);

/// A blank line and the title of a part, with a remark beside it.
void add_title(Page& page, std::string_view title, std::string_view remark = "");

/// Lines of text, wrapped, the first beginning with `lead` and the others indented as far.
void add_paragraph(Page& page, const Line& lead, std::string_view text, const Ink& ink = {});

/// The disruptions from the `from`-th listed one on, newest last.
Table disruption_table(const Page& page, const Report& report, size_t from);

/// What a second of the whole job costs, in the report's currency; 0 when no price is known.
double cost_per_second(const Report& report);

/// The colour of a goodput: good from 80 %, fair from 60 %, bad below.
Color color_of_goodput(double percent);

/// A dot and the word, in the state's colour.
Line status_word(JobStatus status, const TerminalStyle& style);

}  // namespace goodput::report
