// The beginning of what somebody else said, as one line of a message.
//
//   return Status(code, doing + ": " + excerpt(answer.body, 200));
//
// UTF-8 whatever the text is; what would break the line is a blank. Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace goodput {

/// Of the first `most` bytes.
[[nodiscard]] inline std::string excerpt(std::string_view text, size_t most) {
  std::string_view begin = text.substr(0, most);
  // A code point that is cut is left out.
  for (int i = 0;
       i < 3 && begin.size() < text.size() && (static_cast<unsigned char>(text[begin.size()]) & 0xC0) == 0x80; ++i) {
    begin.remove_suffix(1);
  }
  std::string out;
  append_repaired(out, begin);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace goodput
