// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace goodput::report {
namespace {

struct CodeRange {
  uint32_t first, last;
};

#include "report/terminal/width_table.inc"

template <size_t N>
bool contains(const std::array<CodeRange, N>& ranges, uint32_t code) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                      [](uint32_t value, const CodeRange& range) { return value < range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

int columns_of_code(uint32_t code) {
  if (code < 0x300) return 1;
  if (contains(kZeroColumns, code)) return 0;
  return contains(kTwoColumns, code) ? 2 : 1;
}

bool must_be_escaped(uint32_t code, bool unicode) {
  if (code < 0x80) return code < 0x20 || code == 0x7f;
  return !unicode || contains(kEscaped, code);
}

// The longest prefix of at most `columns` columns, as a number of bytes.
size_t prefix_bytes(std::string_view text, int columns) {
  size_t i = 0;
  for (int used = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    used += columns_of_code(c.value);
    if (used > columns) break;
    i += c.length;
  }
  return i;
}

// The first byte of the longest suffix of at most `columns` columns.
size_t suffix_start(std::string_view text, int columns) {
  int left = columns_of(text);
  size_t i = 0;
  while (i < text.size() && left > columns) {
    const CodePoint c = decode_utf8(text, i);
    left -= columns_of_code(c.value);
    i += c.length;
  }
  while (i < text.size()) {  // a combining mark must not stand alone
    const CodePoint c = decode_utf8(text, i);
    if (columns_of_code(c.value) != 0) break;
    i += c.length;
  }
  return i;
}

}  // namespace

std::string printable(std::string_view raw, bool unicode) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    const CodePoint c = decode_utf8(raw, i);
    if (!c.valid || (c.value < 0x80 && must_be_escaped(c.value, unicode))) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c.value);
    } else if (must_be_escaped(c.value, unicode)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c.value);
    } else {
      out.append(raw.substr(i, c.length));
    }
    i += c.length;
  }
  return out;
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    columns += columns_of_code(c.value);
    i += c.length;
  }
  return columns;
}

std::string shorten(std::string_view text, int columns, bool unicode) {
  if (columns_of(text) <= columns) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "..";
  const int left = columns - columns_of(ellipsis);
  if (left <= 0) return std::string(text.substr(0, prefix_bytes(text, columns)));
  const int tail = left / 3;
  std::string out(text.substr(0, prefix_bytes(text, left - tail)));
  out.append(ellipsis);
  out.append(text.substr(suffix_start(text, tail)));
  return out;
}

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> lines;
  columns = std::max(columns, 2);  // a wide character must fit
  while (true) {
    const size_t most = prefix_bytes(text, columns);
    if (most == text.size()) break;
    const size_t space = text.substr(0, most + 1).rfind(' ');
    const size_t cut = space == std::string_view::npos || space == 0 ? most : space;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace goodput::report
