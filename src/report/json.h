// The report as JSON, and back: the object that `goodput report --json`, the HTTP API and Python return.
//
// Use to_json() wherever a machine reads a report; docs/formats/report.md describes every field.
//
//   std::string text = to_json(report);
//   Result<Report> same = parse_report(text);
//   std::map<std::string, double> numbers = flat(report);    // {"goodput_percent": 87.5, …}
//
// Keys stand in the order of the document. Seconds carry at most nine decimals and no noise of binary fractions, so
// that the parts of a partition sum to its whole within 1 µs; percents carry six decimals, other numbers twelve digits.
// Bytes that are not UTF-8 become U+FFFD. Pure functions of their arguments; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "report/jobs.h"
#include "report/report.h"

namespace goodput::report {

constexpr std::string_view kReportSchema = "goodput.report/1";
constexpr int kSemanticsVersion = 1;

enum class JsonForm : bool {
  kOneLine,   ///< for machines
  kIndented,  ///< for people: two spaces a level
};

std::string to_json(const Report& report, JsonForm form = JsonForm::kOneLine);

/// The lists of `goodput attempts`, `disruptions`, `ranks` and `jobs`: an object with `schema` ("goodput.attempts/1",
/// …), the job it is about, the array under the list's name, and how many are `omitted` from it.
std::string attempts_to_json(const Report& report, JsonForm form = JsonForm::kOneLine);
std::string disruptions_to_json(const Report& report, JsonForm form = JsonForm::kOneLine);
std::string ranks_to_json(const Report& report, JsonForm form = JsonForm::kOneLine);
std::string jobs_to_json(std::span<const JobSummary> jobs, JsonForm form = JsonForm::kOneLine);

/// What to_json() wrote. Keys that it does not know are ignored and absent ones keep their default, so that reports of
/// newer and older versions of this schema can be read; kInvalidArgument, naming the field, for anything else.
Result<Report> parse_report(std::string_view text);

/// Every number of the object by its dotted name. Windows are named by their seconds ("windows.3600.goodput_percent"),
/// findings by kind ("data_quality.clock_skew.count"), the two ends of an interval "low" and "high". Times are left
/// out, and the lists of attempts, disruptions, ranks and the timeline, whose length has no bound that a metric store
/// would like.
std::map<std::string, double> flat(const Report& report);

}  // namespace goodput::report
