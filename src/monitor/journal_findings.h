// What reading a job's journals showed, in words, each with what to do about it.
//
//   for (const journal::Finding& found : log.findings()) question.findings.push_back(in_words(found));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "journal/finding.h"
#include "report/report.h"

namespace goodput::monitor {

/// A kind that has no words yet is shown by its name. Pure.
[[nodiscard]] report::Finding in_words(const journal::Finding& found);

}  // namespace goodput::monitor
