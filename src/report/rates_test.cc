// SPDX-License-Identifier: Apache-2.0
#include "report/rates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace goodput::report {
namespace {

TEST(Rates, PercentHasNoAnswerWithoutAWhole) {
  EXPECT_EQ(percent(1, 4), 25.0);
  EXPECT_EQ(percent(0, 4), 0.0);
  EXPECT_FALSE(percent(0, 0).has_value());
  EXPECT_FALSE(percent(1, std::numeric_limits<double>::quiet_NaN()).has_value());
}

TEST(Rates, MeanHasNoAnswerWithoutACount) {
  EXPECT_EQ(mean(36'000, 3), 12'000);
  EXPECT_FALSE(mean(36'000, 0).has_value());
}

// The expected bounds were computed with scipy.stats.chi2.ppf.
TEST(Rates, IntervalIsTheExactOneOfChiSquare) {
  struct Case {
    double exposure_seconds;
    int64_t failures;
    double confidence, low, high;
  };
  for (const Case& c : {Case{36'000, 3, 0.90, 4642.9706900620595, 44026.38687840125},
                        Case{36'000, 1, 0.90, 7588.7496070847965, 701846.1268640528},
                        Case{36'000, 3, 0.50, 7045.799182945188, 20841.783206637443},
                        Case{1e6, 419, 0.90, 2201.3420682641217, 2591.286413305489},
                        Case{1e6, 100'000, 0.90, 9.948098889662313, 10.052229297917204}}) {
    const auto interval = mtbf_interval(c.exposure_seconds, c.failures, c.confidence);
    ASSERT_TRUE(interval.has_value());
    EXPECT_NEAR(interval->first, c.low, c.low * 1e-9);
    EXPECT_NEAR(interval->second, c.high, c.high * 1e-9);
  }
}

TEST(Rates, IntervalHasNoAnswerWithoutAFailureOrExposure) {
  EXPECT_FALSE(mtbf_interval(36'000, 0).has_value());
  EXPECT_FALSE(mtbf_interval(0, 3).has_value());
  EXPECT_FALSE(mtbf_interval(36'000, 3, 1.0).has_value());
  EXPECT_FALSE(mtbf_interval(36'000, 3, 0.0).has_value());
}

TEST(Rates, MeanLiesInsideItsInterval) {
  for (int64_t failures : {1, 2, 7, 50, 1'000}) {
    const auto interval = mtbf_interval(1e7, failures);
    ASSERT_TRUE(interval.has_value());
    const double middle = mean(1e7, failures).value_or(0);
    EXPECT_LT(interval->first, middle);
    EXPECT_GT(interval->second, middle);
  }
}

}  // namespace
}  // namespace goodput::report
