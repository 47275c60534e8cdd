// Decimals of golden cases as exact fractions.
//
//   std::optional<Decimal> number = decimal("17.5e-1");   // 7/4
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <optional>
#include <string>

namespace goodput::golden {

using Decimal = boost::multiprecision::cpp_rational;

/// The value of a decimal as JSON or a user writes it; empty when it is none, or beyond 4,096 digits.
std::optional<Decimal> decimal(const std::string& text);

}  // namespace goodput::golden
