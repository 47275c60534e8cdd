// The gallery: named sample reports that the golden renderings, the JSON tests and a person's eyes look at.
//
//   for (const Sample& sample : samples()) std::cout << render_report(sample.report, style);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace goodput::report::testing {

struct Sample {
  std::string name;
  Report report;
};

/// empty, starting, completed, three, thirty, thousand, failed, stalled, hostile, clipped.
std::vector<Sample> samples();

/// One of them by name; stops the process for a name that is none.
Report sample(std::string_view name);

}  // namespace goodput::report::testing
