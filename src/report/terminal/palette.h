// How each class of time looks and reads on a screen: its colour, its letter where there is no colour, its words.
//
//   const ClassLook& look = look_of("WASTED_PROGRESS");    // label "wasted progress", letter 'W', an orange
//
// Colours are of middle lightness, told apart on dark and on light backgrounds alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "report/terminal/line.h"

namespace goodput::report {

struct ClassLook {
  std::string_view name;     ///< the word of docs/semantics.md
  std::string_view label;    ///< the same in lower case
  std::string_view meaning;  ///< one clause
  char letter;               ///< in bars without colour; '#' is PRODUCTIVE
  Color color;
};

/// The look of a class; names that are no class (of a newer version) look like OTHER. Lives as long as the process.
const ClassLook& look_of(std::string_view name);

/// Where a class stands when time is laid out in one row: PRODUCTIVE first, then as a job lives through them.
int order_of(std::string_view name);

constexpr Color kGood{35, 32};    ///< green
constexpr Color kFair{178, 33};   ///< amber
constexpr Color kBad{167, 31};    ///< red
constexpr Color kAccent{68, 34};  ///< blue
constexpr Color kQuiet{245, 90};  ///< grey

}  // namespace goodput::report
