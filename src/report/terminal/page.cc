// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"
#include "report/terminal/sections.h"

namespace goodput::report {

std::string render_report(const Report& report, const TerminalStyle& style) {
  Page page(style);
  add_headline(page, report);
  add_where_the_time_went(page, report);
  add_timeline(page, report);
  add_breakdown(page, report);
  add_windows(page, report);
  add_disruptions(page, report);
  add_steps(page, report);
  add_ranks(page, report);
  add_data_quality(page, report);
  add_hints(page, report);
  return page.render();
}

}  // namespace goodput::report
