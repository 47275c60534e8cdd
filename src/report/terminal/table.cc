// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/table.h"

#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "report/terminal/text.h"

namespace goodput::report {
namespace {

constexpr int kGap = 2;
constexpr int kAlwaysKept = 9;
// A shortened name still shows its first and last letters.
constexpr int kShortest = 8;

int columns_of(const Cell& cell) { return std::max(report::columns_of(cell.text), cell.drawn.columns()); }

int total(const std::vector<int>& widths) {
  int sum = -kGap;
  for (const int width : widths) sum += width > 0 ? width + kGap : 0;
  return sum;
}

}  // namespace

std::vector<int> Table::natural_widths() const {
  std::vector<int> widths(columns_.size(), 0);
  for (const std::vector<Cell>& row : rows_) {
    CHECK(row.size() == columns_.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], report::columns_of(columns_[i].title));
  }
  return widths;
}

std::vector<int> Table::fitted_widths(int columns) const {
  std::vector<int> widths = natural_widths();
  while (total(widths) > columns) {
    // Shorten the widest flexible column as far as it goes before anything is left out.
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (!columns_[i].flexible || widths[i] <= kShortest) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest < widths.size() && widths[widest] > 2 * kShortest) {
      widths[widest] -= std::min(total(widths) - columns, widths[widest] - 2 * kShortest);
      continue;
    }
    size_t least = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0 || columns_[i].keep >= kAlwaysKept) continue;
      if (least == widths.size() || columns_[i].keep < columns_[least].keep) least = i;
    }
    if (least < widths.size()) {
      widths[least] = 0;
    } else if (widest < widths.size()) {
      widths[widest] -= std::min(total(widths) - columns, widths[widest] - kShortest);
    } else {
      break;
    }
  }
  return widths;
}

Line Table::draw_row(const std::vector<Cell>& cells, const std::vector<int>& widths, bool unicode) const {
  Line line;
  int at = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    line.pad_to(at);
    if (cells[i].drawn.columns() > 0) {
      line.add(cells[i].drawn);
    } else {
      const std::string text = shorten(cells[i].text, widths[i], unicode);
      if (columns_[i].align == Align::kRight) line.pad_to(at + widths[i] - report::columns_of(text));
      line.add(text, cells[i].ink);
    }
    at += widths[i] + kGap;
  }
  return line;
}

void Table::draw(Page& page) const {
  const std::vector<int> widths = fitted_widths(page.columns());
  std::vector<Cell> titles;
  titles.reserve(columns_.size());
  for (const TableColumn& column : columns_) titles.push_back({.text = column.title, .ink = {.faint = true}});
  page.add(draw_row(titles, widths, page.style.unicode));
  for (const std::vector<Cell>& row : rows_) page.add(draw_row(row, widths, page.style.unicode));
}

}  // namespace goodput::report
