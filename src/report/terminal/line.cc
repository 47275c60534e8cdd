// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/line.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/text.h"

namespace goodput::report {
namespace {

std::string escape_of(const Ink& ink, ColorDepth depth) {
  if (depth == ColorDepth::kNone || ink == Ink{}) return "";
  std::string codes;
  const auto add = [&codes](const std::string& code) { codes += (codes.empty() ? "" : ";") + code; };
  if (ink.bold) add("1");
  if (ink.faint) add("2");
  if (ink.foreground) {
    add(depth == ColorDepth::k256 ? fmt::format("38;5;{}", ink.foreground->of_256)
                                  : fmt::format("{}", ink.foreground->of_16));
  }
  if (ink.background) {
    add(depth == ColorDepth::k256 ? fmt::format("48;5;{}", ink.background->of_256)
                                  : fmt::format("{}", ink.background->of_16 + 10));
  }
  return "\x1b[" + codes + "m";
}

}  // namespace

Page::Page(const TerminalStyle& wanted) : style(wanted) {
  style.columns = std::clamp(style.columns, kMinColumns, kMaxColumns);
}

Line& Line::add(std::string_view text, const Ink& ink) {
  if (text.empty()) return *this;
  columns_ += columns_of(text);
  if (!pieces_.empty() && pieces_.back().ink == ink) {
    pieces_.back().text.append(text);
  } else {
    pieces_.push_back({std::string(text), ink});
  }
  return *this;
}

Line& Line::add(const Line& other) {
  for (const Piece& piece : other.pieces_) add(piece.text, piece.ink);
  return *this;
}

Line& Line::pad_to(int column) {
  if (column > columns_) add(std::string(static_cast<size_t>(column - columns_), ' '));
  return *this;
}

std::string Line::render(const TerminalStyle& style) const {
  std::string out;
  size_t last = pieces_.size();
  while (last > 0 && !pieces_[last - 1].ink.background &&
         pieces_[last - 1].text.find_first_not_of(' ') == std::string::npos) {
    --last;
  }
  for (size_t i = 0; i < last; ++i) {
    std::string_view text = pieces_[i].text;
    if (i + 1 == last && !pieces_[i].ink.background) text = text.substr(0, text.find_last_not_of(' ') + 1);
    const std::string escape = escape_of(pieces_[i].ink, style.colors);
    out.append(escape).append(text);
    if (!escape.empty()) out.append("\x1b[0m");
  }
  return out;
}

std::string Page::render() const {
  std::string out;
  for (const Line& line : lines) {
    const std::string text = line.render(style);
    if (!text.empty()) out.append(kMargin, ' ').append(text);
    out.push_back('\n');
  }
  return out;
}

}  // namespace goodput::report
