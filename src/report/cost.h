// Accelerator-hours and money of a report, from its seconds.
//
// Use it last when a report is made, once its seconds, accelerator count and type are set.
//
//   Report report = build(ledger, …);
//   set_accelerator_hours(report);                       // does nothing while `accelerators` is unknown
//   set_cost(report, {.per_accelerator_hour = 2.49});    // nor this
//
// Unknown counts and prices leave the maps empty (null in JSON), never 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report.h"

namespace goodput::report {

struct Price {
  double per_accelerator_hour = 0;
  std::string currency = "USD";
};

/// Fills `accelerator_hours`: PRODUCTIVE, every badput class with time, and the sum of the custom events.
void set_accelerator_hours(Report& report);

/// Fills `cost` and `currency` from `accelerator_hours`.
void set_cost(Report& report, const Price& price);

}  // namespace goodput::report
