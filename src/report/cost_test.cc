// SPDX-License-Identifier: Apache-2.0
#include "report/cost.h"

#include <gtest/gtest.h>

#include "report/jobs.h"

namespace goodput::report {
namespace {

Report two_hours() {
  Report report;
  report.elapsed_seconds = 7'200;
  report.goodput_seconds = 3'600;
  report.badput_seconds = {{"OTHER", 1'800}};
  report.custom_badput_seconds = {{"EVAL", 900}, {"EXPORT", 900}};
  return report;
}

TEST(Cost, HoursAreByClassWithCustomEventsSummed) {
  Report report = two_hours();
  report.accelerators = 8;
  set_accelerator_hours(report);
  EXPECT_EQ(report.accelerator_hours, (SecondsByName{{"PRODUCTIVE", 8}, {"OTHER", 4}, {"CUSTOM_BADPUT_EVENTS", 4}}));
}

TEST(Cost, PriceMultipliesHours) {
  Report report = two_hours();
  report.accelerators = 8;
  set_accelerator_hours(report);
  set_cost(report, {.per_accelerator_hour = 2.5, .currency = "EUR"});
  EXPECT_EQ(report.cost, (SecondsByName{{"PRODUCTIVE", 20}, {"OTHER", 10}, {"CUSTOM_BADPUT_EVENTS", 10}}));
  EXPECT_EQ(report.currency, "EUR");
  EXPECT_EQ(summarize(report).cost, 40);
}

TEST(Cost, UnknownCountLeavesNoHoursAndNoCost) {
  Report report = two_hours();
  set_accelerator_hours(report);
  set_cost(report, {.per_accelerator_hour = 2.5, .currency = "USD"});
  EXPECT_TRUE(report.accelerator_hours.empty());
  EXPECT_TRUE(report.cost.empty());
  EXPECT_EQ(report.currency, "");
  EXPECT_FALSE(summarize(report).cost.has_value());
}

}  // namespace
}  // namespace goodput::report
