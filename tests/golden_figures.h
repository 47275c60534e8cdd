// Figures of a report as a flat map of dotted names, and how two such maps differ.
//
// What is right (the `expected` of a golden case) and what an engine answers are both flattened and compared by name.
//
//   Figures want = flatten(golden.expected);
//   Figures got = reference_figures(*job, golden.log->malformed_entries);
//   EXPECT_THAT(differences(want, got), IsEmpty());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "golden_case.h"
#include "reference/accounting.h"

namespace goodput::golden {

struct Figure {
  std::optional<double> number;  ///< empty with empty text: null
  std::string text;
};

/// "badput_seconds.OTHER" → 20.0, "attempts.0.status" → died. An object or list is there itself too, as a null
/// "badput_seconds.": a comparison then covers all of its names.
using Figures = std::map<std::string, Figure>;

Figures flatten(const Json& expected);

constexpr double kGoldenToleranceSeconds = 1e-5;  ///< golden cases print six decimals

/// Numbers to the tolerance (which counts and steps cannot use), texts exactly. Names of amounts under an object that
/// `want` has and one side lacks count as 0; other names that `want` lacks are not compared. One line per difference.
std::vector<std::string> differences(const Figures& want, const Figures& got,
                                     double tolerance_seconds = kGoldenToleranceSeconds);

/// What the reference answers about the whole job.
Figures reference_figures(const reference::Accounting& job, int64_t malformed_entries);
/// And about [from, to) less exclusions.
Figures reference_window(const reference::Accounting& job, int64_t from_ns, int64_t to_ns,
                         const reference::Intervals& exclusions);

reference::Options reference_options(const GoldenCase& golden);

}  // namespace goodput::golden
