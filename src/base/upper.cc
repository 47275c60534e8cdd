// SPDX-License-Identifier: Apache-2.0
#include "base/upper.h"

#include <algorithm>
#include <iterator>

#include "base/upper_table.h"
#include "base/utf8.h"

namespace goodput {
namespace {

void append_upper(std::string& out, uint32_t point) {
  using upper_table::kRuns;
  using upper_table::kSeveral;
  const auto* const run = std::ranges::lower_bound(kRuns, point, {}, &upper_table::Run::last);
  if (run != std::end(kRuns) && point >= run->first && (point - run->first) % static_cast<uint32_t>(run->step) == 0) {
    append_utf8(out, point + static_cast<uint32_t>(run->delta));
    return;
  }
  const auto* const several = std::ranges::lower_bound(kSeveral, point, {}, &upper_table::Several::point);
  if (several == std::end(kSeveral) || several->point != point) {
    append_utf8(out, point);
    return;
  }
  for (const uint32_t upper : several->upper) {
    if (upper != 0) append_utf8(out, upper);
  }
}

}  // namespace

std::string upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (c.value < 0x80) {
      out.push_back(static_cast<char>(c.value >= 'a' && c.value <= 'z' ? c.value - 32 : c.value));
    } else if (c.valid) {
      append_upper(out, c.value);
    } else {
      out.push_back(text[i]);
    }
    i += c.length;
  }
  return out;
}

}  // namespace goodput
