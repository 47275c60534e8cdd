// A table that fits: columns as wide as what they hold, less important ones left out and long names shortened where the
// page is narrow.
//
//   Table table({{.title = "class"}, {.title = "time", .align = Align::kRight}, {.title = "note", .keep = 1}});
//   table.add_row({{.text = "stalled"}, {.text = "1h 30m"}, {.text = "alive without progress", .ink = {.faint =
//   true}}}); table.draw(page);
//
// Text must be printable (text.h). Values; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/terminal/line.h"

namespace goodput::report {

enum class Align : bool { kLeft, kRight };

struct TableColumn {
  std::string title{};
  Align align = Align::kLeft;
  int keep = 9;           ///< of columns that do not fit the lowest goes first; 9 is never left out
  bool flexible = false;  ///< may be shortened
};

struct Cell {
  std::string text{};
  Ink ink{};
  Line drawn{};  ///< in place of the text, where it has any
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  /// As many cells as columns.
  void add_row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The titles, faint, and the rows. Columns in which no row has anything are left out.
  void draw(Page& page) const;

 private:
  [[nodiscard]] std::vector<int> natural_widths() const;
  [[nodiscard]] std::vector<int> fitted_widths(int columns) const;
  [[nodiscard]] Line draw_row(const std::vector<Cell>& cells, const std::vector<int>& widths, bool unicode) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace goodput::report
