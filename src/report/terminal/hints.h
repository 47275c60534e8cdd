// What to do about it: advice that follows from a report's own figures, the most worthwhile first.
//
//   for (const Hint& hint : hints(report)) page.add(Line(hint.text));
//
// A hint is given for a class of loss that takes at least kHintPercent of the time, with what it is worth. The words
// are the same on a terminal and on the web page. Pure; nothing throws. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace goodput::report {

/// Below two percent of the time advice is noise.
constexpr double kHintPercent = 2.0;
constexpr size_t kMostHints = 4;
/// A running job's first ten minutes are start-up: nothing follows from them.
constexpr double kHintsFromSeconds = 600;

struct Hint {
  std::string text;    ///< one or two sentences; names in it are not escaped
  double percent = 0;  ///< of elapsed time that it is about; 0 when it is about none
};

std::vector<Hint> hints(const Report& report);

}  // namespace goodput::report
