// Text as the web wants it: percent-encoded, as a form, in base64.
//
//   url += "/o/" + percent_encoded("a/b c");                                   // "a%2Fb%20c"
//   request.body = form({{"grant_type", "refresh_token"}, {"scope", "a b"}});  //
//   "grant_type=refresh_token&scope=a%20b" header = "Basic " + base64("name:secret", Base64::kStandard);
//
// Pure functions. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace goodput {

/// Every byte but letters, digits and "-._~" as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

/// application/x-www-form-urlencoded, which is also what follows the "?" of a URL.
[[nodiscard]] std::string form(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

enum class Base64 : bool {
  kStandard,  ///< "+/", padded
  kUrl,       ///< "-_", without padding
};
[[nodiscard]] std::string base64(std::string_view bytes, Base64 alphabet);

/// Whether what is sent to `url` can be read by those on the way: it is neither https nor of this machine.
[[nodiscard]] bool is_overheard(std::string_view url);

}  // namespace goodput
