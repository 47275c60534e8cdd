// What all benches share: alternated rounds, ratios of medians, one table row per figure, and an exit code.
//
// A figure is a ratio of two things done in turn in one run, so that a loaded or throttled machine slows both. Each
// contender's round returns its cost; the medians of the rounds are compared.
//
//   Table table;
//   const std::vector<double> cost = alternate({[&] { return step_ns(); }, [&] { return floor_ns(); }});
//   table.add({.what = "one step from C++", .ratio = cost[0] / cost[1], .bar = 1.25, .detail = nanoseconds(cost)});
//   return table.exit_code();
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace goodput::bench {

/// Odd, so that the median is one of them.
constexpr int kRounds = 5;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Runs one round of each contender in turn, kRounds times, after one that does not count. Medians by contender.
inline std::vector<double> alternate(const std::vector<std::function<double()>>& contenders, int rounds = kRounds) {
  std::vector<std::vector<double>> costs(contenders.size());
  for (int round = -1; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double cost = contenders[i]();
      if (round >= 0) costs[i].push_back(cost);
    }
  }
  std::vector<double> medians;
  for (const auto& of_one : costs) medians.push_back(median(of_one));
  return medians;
}

inline double monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Row {
  std::string what;
  double ratio = 0;
  double bar = 0;  ///< the most that `ratio` may be; 0: for information
  std::string against;
  std::string detail;
};

/// Prints rows as they come, in the form of docs/performance.md.
class Table {
 public:
  void add(const Row& row) {
    const bool missed = row.bar > 0 && row.ratio > row.bar;
    any_missed_ = any_missed_ || missed;
    const std::string bar = row.bar > 0 ? format("at most %.3g", row.bar) : std::string("-");
    std::printf("| %s | %.3g × %s | %s | %s | %s |\n", row.what.c_str(), row.ratio, row.against.c_str(), bar.c_str(),
                row.bar <= 0 ? "info"
                : missed     ? "MISSED"
                             : "met",
                row.detail.c_str());
    std::fflush(stdout);
  }
  [[nodiscard]] int exit_code() const { return any_missed_ ? 1 : 0; }

  template <typename... Args>
  static std::string format(const char* pattern, Args... args) {
    char text[256];
    std::snprintf(text, sizeof(text), pattern, args...);
    return text;
  }

 private:
  bool any_missed_ = false;
};

}  // namespace goodput::bench
