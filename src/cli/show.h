// The answers of the commands that ask, in the form that was asked for: JSON or a page.
//
//   Result<report::Report> report = …;
//   if (!report.ok()) return context.fail("report", report.status());
//   return show_report(context, *report);
//
// Each returns the exit code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "cli/context.h"
#include "report/jobs.h"
#include "report/report.h"

namespace goodput::cli {

int show_report(Context& context, const report::Report& report);
int show_attempts(Context& context, const report::Report& report);
int show_disruptions(Context& context, const report::Report& report);
int show_ranks(Context& context, const report::Report& report);
int show_jobs(Context& context, std::span<const report::JobSummary> jobs);

}  // namespace goodput::cli
