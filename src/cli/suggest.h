// "Did you mean …?": the nearest of the words that there are.
//
//   suggest("reprot", {"report", "ranks"}) == "report"
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace goodput::cli {

/// The candidate that takes fewest single-letter changes, swaps included, to become `word`; empty when none is within a
/// third of its length.
std::string suggest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace goodput::cli
