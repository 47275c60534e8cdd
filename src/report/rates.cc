// SPDX-License-Identifier: Apache-2.0
#include "report/rates.h"

#include <boost/math/distributions/chi_squared.hpp>

namespace goodput::report {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

double chi_squared_quantile(double probability, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::chi_squared_distribution<double, Quiet>(degrees_of_freedom), probability);
}

}  // namespace

std::optional<double> percent(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return 100.0 * part / whole;
}

std::optional<double> mean(double total, int64_t count) {
  if (count <= 0) return std::nullopt;
  return total / static_cast<double>(count);
}

std::optional<std::pair<double, double>> mtbf_interval(double exposure_seconds, int64_t failures, double confidence) {
  if (failures <= 0 || !(exposure_seconds > 0) || !(confidence > 0 && confidence < 1)) return std::nullopt;
  const double tail = (1 - confidence) / 2;
  const auto k = static_cast<double>(failures);
  return std::pair{2 * exposure_seconds / chi_squared_quantile(1 - tail, 2 * k + 2),
                   2 * exposure_seconds / chi_squared_quantile(tail, 2 * k)};
}

}  // namespace goodput::report
