// Upper case of any Unicode text, as Python's str.upper() gives it.
//
// Names of custom events are told apart by their upper case, and the system that wrote most logs upper-cases in Python:
// "straße" and "STRASSE" are one name.
//
//   upper("Größe") == "GRÖSSE"
//
// Pure; the result is a new string. Bytes that are not UTF-8 are kept as they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace goodput {

/// Full upper-casing (one code point may become three), independent of any locale.
[[nodiscard]] std::string upper(std::string_view text);

}  // namespace goodput
