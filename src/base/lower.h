// Names that are told apart without regard to case: types of accelerators, header names, words of the environment.
//
//   lower("TPU-v5p") == "tpu-v5p"
//
// Letters of ASCII alone, whatever the locale; other bytes stay. For all of Unicode: base/upper.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace goodput {

[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace goodput
