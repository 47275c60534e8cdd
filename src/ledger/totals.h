// Accounted time: nanoseconds by class, custom events by name. Adding and taking away are exact.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ledger/time_class.h"

namespace goodput::ledger {

struct Totals {
  std::array<int64_t, kTimeClasses> ns{};
  std::vector<std::pair<uint16_t, int64_t>> custom_ns;  ///< by name index, ascending, no zeros

  void add(TimeClass time_class, uint16_t name, int64_t amount_ns) {
    ns[static_cast<size_t>(time_class)] += amount_ns;
    if (time_class == TimeClass::kCustomBadputEvents) add_custom(name, amount_ns);
  }

  void add(const Totals& other, int64_t sign = 1) {
    for (size_t i = 0; i < ns.size(); ++i) ns[i] += sign * other.ns[i];
    for (const auto& [name, amount_ns] : other.custom_ns) add_custom(name, sign * amount_ns);
  }

  [[nodiscard]] int64_t of(TimeClass time_class) const { return ns[static_cast<size_t>(time_class)]; }
  [[nodiscard]] int64_t sum() const {
    int64_t total = 0;
    for (const int64_t amount_ns : ns) total += amount_ns;
    return total;
  }
  friend bool operator==(const Totals&, const Totals&) = default;

 private:
  void add_custom(uint16_t name, int64_t amount_ns) {
    auto at = std::lower_bound(custom_ns.begin(), custom_ns.end(), name,
                               [](const auto& entry, uint16_t wanted) { return entry.first < wanted; });
    if (at == custom_ns.end() || at->first != name) {
      if (amount_ns != 0) custom_ns.insert(at, {name, amount_ns});
    } else if ((at->second += amount_ns) == 0) {
      custom_ns.erase(at);
    }
  }
};

/// Numerator and denominator of a mean step time: unowned nanoseconds over steps.
struct StepSums {
  int64_t ns = 0;
  int64_t steps = 0;

  void add(int64_t more_ns, int64_t more_steps) {
    ns += more_ns;
    steps += more_steps;
  }
  void add(const StepSums& other) { add(other.ns, other.steps); }
  [[nodiscard]] StepSums minus(const StepSums& other) const { return {ns - other.ns, steps - other.steps}; }
  [[nodiscard]] bool empty() const { return steps == 0; }
  friend bool operator==(const StepSums&, const StepSums&) = default;
};

}  // namespace goodput::ledger
