// SPDX-License-Identifier: Apache-2.0
#include "cli/show.h"

namespace goodput::cli {

int show_report(Context& context, const report::Report& report) {
  if (context.globals.json) return context.print(report::to_json(report, context.json_form()));
  return context.print(report::render_report(report, context.style()));
}

int show_attempts(Context& context, const report::Report& report) {
  if (context.globals.json) return context.print(report::attempts_to_json(report, context.json_form()));
  return context.print(report::render_attempts(report, context.style()));
}

int show_disruptions(Context& context, const report::Report& report) {
  if (context.globals.json) return context.print(report::disruptions_to_json(report, context.json_form()));
  return context.print(report::render_disruptions(report, context.style()));
}

int show_ranks(Context& context, const report::Report& report) {
  if (context.globals.json) return context.print(report::ranks_to_json(report, context.json_form()));
  return context.print(report::render_ranks(report, context.style()));
}

int show_jobs(Context& context, std::span<const report::JobSummary> jobs) {
  if (context.globals.json) return context.print(report::jobs_to_json(jobs, context.json_form()));
  return context.print(report::render_jobs(jobs, context.style()));
}

}  // namespace goodput::cli
