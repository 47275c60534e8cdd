// A line of a terminal page: pieces of text with their ink, written with or without escape sequences at the very end.
//
// Everything that is shown is built of these, so that widths are counted on text alone and colour is one decision.
//
//   Line line;
//   line.add("87.4%", {.foreground = kGood, .bold = true}).add(" goodput");
//   line.pad_to(40).add("running");
//   out += line.render(style);
//
// Text must be printable (text.h). Values; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/terminal.h"

namespace goodput::report {

struct Color {
  uint8_t of_256 = 0;  ///< in the palette of 256
  uint8_t of_16 = 0;   ///< the SGR number of a foreground: 30 to 37, 90 to 97
  friend bool operator==(const Color&, const Color&) = default;
};

struct Ink {
  std::optional<Color> foreground{}, background{};
  bool bold = false, faint = false;
  friend bool operator==(const Ink&, const Ink&) = default;
};

class Line {
 public:
  Line() = default;
  explicit Line(std::string_view text, const Ink& ink = {}) { add(text, ink); }

  Line& add(std::string_view text, const Ink& ink = {});
  Line& add(const Line& other);
  /// Blanks up to column `column`; nothing when the line is already there.
  Line& pad_to(int column);

  [[nodiscard]] int columns() const { return columns_; }
  /// Without blanks at the end; each run of one ink is closed, so that a cut line colours nothing after it.
  [[nodiscard]] std::string render(const TerminalStyle& style) const;

 private:
  struct Piece {
    std::string text;
    Ink ink;
  };

  std::vector<Piece> pieces_;
  int columns_ = 0;
};

/// What a rendering is made of: lines for one style, within its columns less a margin on the left.
struct Page {
  /// The style with as many columns as a page may have.
  explicit Page(const TerminalStyle& wanted);

  TerminalStyle style;
  std::vector<Line> lines{};

  [[nodiscard]] int columns() const { return style.columns - kMargin; }
  [[nodiscard]] bool colored() const { return style.colors != ColorDepth::kNone; }
  void add(const Line& line) { lines.push_back(line); }
  void add_blank() { lines.emplace_back(); }
  [[nodiscard]] std::string render() const;

  static constexpr int kMargin = 2;
};

}  // namespace goodput::report
