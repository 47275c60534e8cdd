// Strings of JSON: out of their escapes and into them.
//
//   std::string plain;
//   if (!append_unescaped(plain, R"(a\u00e9)")) …      // a bad escape
//   append_quoted(line, plain);                        // "aé", with the quotes
//
// Lone surrogates (which JSON can write and UTF-8 cannot) travel as three bytes of the same pattern and come back out
// as the same escape. Pure functions. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace goodput::event {

/// Appends the text of a JSON string's inside. False, with `out` unspecified, when an escape is none of JSON's.
[[nodiscard]] bool append_unescaped(std::string& out, std::string_view inside);

/// Appends the JSON string of any bytes, quotes included; what is not UTF-8 becomes U+FFFD.
void append_quoted(std::string& out, std::string_view text);

}  // namespace goodput::event
