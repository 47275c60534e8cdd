// SPDX-License-Identifier: Apache-2.0
#include "cli/suggest.h"

#include <algorithm>

namespace goodput::cli {
namespace {

// Longer words are no slip of the pen; the bound keeps the cost of a hostile one small.
constexpr size_t kLongestWord = 40;

// Damerau's distance, of neighbours swapped once.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({change, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string suggest(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWord) return "";
  std::string best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t changes = distance(word, candidate);
    if (changes >= least) continue;
    least = changes;
    best = candidate;
  }
  return best;
}

}  // namespace goodput::cli
