// SPDX-License-Identifier: Apache-2.0
#include "report/cost.h"

#include "report/words.h"

namespace goodput::report {

void set_accelerator_hours(Report& report) {
  report.accelerator_hours.clear();
  if (!report.accelerators) return;
  const double hours_per_second = static_cast<double>(*report.accelerators) / 3600.0;
  const auto add = [&](std::string_view name, double seconds) {
    if (seconds > 0) report.accelerator_hours[std::string(name)] += seconds * hours_per_second;
  };
  add(kProductive, report.goodput_seconds);
  for (const auto& [name, seconds] : report.badput_seconds) add(name, seconds);
  for (const auto& [name, seconds] : report.custom_badput_seconds) add(kCustomBadput, seconds);
}

void set_cost(Report& report, const Price& price) {
  report.cost.clear();
  report.currency.clear();
  if (!report.accelerators) return;
  report.currency = price.currency;
  for (const auto& [name, hours] : report.accelerator_hours) report.cost[name] = hours * price.per_accelerator_hour;
}

}  // namespace goodput::report
