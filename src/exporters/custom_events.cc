// SPDX-License-Identifier: Apache-2.0
#include "exporters/custom_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/words.h"

namespace goodput::exporters {

CustomEvents::CustomEvents(const report::SecondsByName& of_job) {
  std::vector<std::pair<double, std::string>> by_time;
  for (const auto& [name, seconds] : of_job) by_time.emplace_back(-seconds, name);
  std::sort(by_time.begin(), by_time.end());
  by_time.resize(std::min(by_time.size(), kMaxCustomEvents));
  for (auto& [seconds, name] : by_time) named_.insert(std::move(name));
}

report::SecondsByName CustomEvents::by_source(const report::SecondsByName& events) const {
  report::SecondsByName out;
  for (const auto& [name, seconds] : events) {
    out[fmt::format("{}.{}", report::kCustomBadput, named_.contains(name) ? name : "other")] += seconds;
  }
  return out;
}

}  // namespace goodput::exporters
