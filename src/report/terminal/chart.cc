// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "report/terminal/palette.h"
#include "report/words.h"

namespace goodput::report {
namespace {

constexpr int kEighths = 8;
constexpr std::array<std::string_view, 9> kLeftBlocks = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 9> kLowerBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string letter_of(const ClassLook& look, const TerminalStyle& style) {
  if (look.name == kProductive && style.unicode) return "█";
  return std::string(1, look.letter);
}

void add_cell(Line& line, const ClassLook& look, const TerminalStyle& style) {
  const bool block = style.colors != ColorDepth::kNone && style.unicode;
  line.add(block ? std::string("█") : letter_of(look, style), {.foreground = look.color});
}

double spread(double part, double whole) { return whole > 0 ? part / whole : 0; }

// `parts` equal parts of a bar, each of the class in which its middle lies; none when the shares are nothing.
std::vector<const ClassLook*> divide(const Shares& shares, size_t parts) {
  double total = 0;
  for (const auto& [name, seconds] : shares) total += seconds;
  if (total <= 0) return {};
  std::vector<const ClassLook*> divided(parts);
  size_t at = 0;
  double cumulative = shares[0].second;
  for (size_t i = 0; i < parts; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * total / static_cast<double>(parts);
    while (middle > cumulative && at + 1 < shares.size()) cumulative += shares[++at].second;
    divided[i] = &look_of(shares[at].first);
  }
  return divided;
}

// A cell of eight parts: two colours where they differ, which `blocks` divides from the left or from below.
void add_divided_cell(Line& line, std::span<const ClassLook* const> parts,
                      const std::array<std::string_view, kEighths + 1>& blocks, const TerminalStyle& style) {
  const ClassLook* first = parts.front();
  size_t of_first = 1;
  while (of_first < kEighths && parts[of_first] == first) ++of_first;
  if (of_first < kEighths && style.unicode && style.colors != ColorDepth::kNone) {
    line.add(blocks[of_first], {.foreground = first->color, .background = parts.back()->color});
  } else {
    add_cell(line, *parts[kEighths / 2], style);
  }
}

// In letters a cell shows the class that took most of what was lost in it, where that is more than a quarter of the
// cell: with the greater part alone, a job that loses an hour of every five would look as if it lost none.
constexpr double kShownLoss = 0.25;

const ClassLook* dominating(const SecondsByName& cell) {
  double total = 0, lost = 0, most_lost = 0;
  const ClassLook* look = nullptr;
  for (const auto& [name, seconds] : cell) {
    total += seconds;
    if (name == kProductive) continue;
    lost += seconds;
    if (seconds <= most_lost) continue;
    most_lost = seconds;
    look = &look_of(name);
  }
  if (total <= 0) return nullptr;
  return lost > kShownLoss * total ? look : &look_of(kProductive);
}

Ribbon spread_attempts(const Report& report, int columns) {
  Ribbon ribbon{.start_ns = report.start_ns, .end_ns = report.end_ns, .cells = {}};
  ribbon.cells.resize(static_cast<size_t>(columns));
  const double cell_ns = static_cast<double>(ribbon.end_ns - ribbon.start_ns) / columns;
  // Adds `by_class`, which lie evenly over [from, to), to the cells that they touch.
  const auto add = [&](int64_t from, int64_t to, const SecondsByName& by_class) {
    for (int i = 0; i < columns; ++i) {
      const double cell_from = static_cast<double>(ribbon.start_ns) + i * cell_ns;
      const double overlap =
          std::min(cell_from + cell_ns, static_cast<double>(to)) - std::max(cell_from, static_cast<double>(from));
      if (overlap <= 0) continue;
      for (const auto& [name, seconds] : by_class) {
        ribbon.cells[static_cast<size_t>(i)][name] += seconds * overlap / static_cast<double>(to - from);
      }
    }
  };
  for (size_t i = 0; i < report.attempts.size(); ++i) {
    const Attempt& attempt = report.attempts[i];
    SecondsByName by_class = attempt.badput_seconds;
    by_class[std::string(kProductive)] += attempt.goodput_seconds;
    add(attempt.start_ns, attempt.end_ns, by_class);
    const int64_t next = i + 1 < report.attempts.size() ? report.attempts[i + 1].start_ns : report.end_ns;
    const double down = static_cast<double>(next - attempt.end_ns) / 1e9;
    if (down > 0) add(attempt.end_ns, next, {{std::string(kInfrastructureRecovery), down}});
  }
  return ribbon;
}

// Each cell in one letter.
Line dominating_classes(const Ribbon& ribbon, const TerminalStyle& style) {
  Line line;
  for (const SecondsByName& cell : ribbon.cells) {
    const ClassLook* look = dominating(cell);
    look == nullptr ? static_cast<void>(line.add(" ")) : add_cell(line, *look, style);
  }
  return line;
}

// Each cell as high as its share of productive time.
std::vector<Line> goodput_heights(const Ribbon& ribbon) {
  constexpr int kRows = 2;
  std::vector<Line> lines(kRows);
  for (const SecondsByName& cell : ribbon.cells) {
    double total = 0, productive = 0;
    for (const auto& [name, seconds] : cell) {
      total += seconds;
      if (name == kProductive) productive = seconds;
    }
    const auto height = static_cast<int>(std::lround(spread(productive, total) * kRows * kEighths));
    lines[0].add(kLowerBlocks[static_cast<size_t>(std::clamp(height - kEighths, 0, kEighths))]);
    lines[1].add(kLowerBlocks[static_cast<size_t>(std::clamp(height, 0, kEighths))]);
  }
  return lines;
}

// Each cell as a column of its classes, PRODUCTIVE at the bottom.
std::vector<Line> stacked_columns(const Ribbon& ribbon, const TerminalStyle& style) {
  constexpr size_t kRows = 3;
  std::vector<Line> lines(kRows);
  for (const SecondsByName& cell : ribbon.cells) {
    Shares shares(cell.begin(), cell.end());
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return order_of(a.first) < order_of(b.first); });
    const std::vector<const ClassLook*> eighths = divide(shares, kRows * kEighths);
    for (size_t row = 0; row < kRows; ++row) {
      Line& line = lines[kRows - 1 - row];
      if (eighths.empty()) {
        line.add(" ");
      } else {
        add_divided_cell(line, std::span(eighths).subspan(row * kEighths, kEighths), kLowerBlocks, style);
      }
    }
  }
  return lines;
}

}  // namespace

Shares shares_of(const Report& report) {
  Shares shares;
  for (const auto& [name, seconds] : report.badput_seconds) {
    if (seconds > 0) shares.emplace_back(name, seconds);
  }
  double custom = 0;
  for (const auto& [name, seconds] : report.custom_badput_seconds) custom += seconds;
  if (custom > 0) shares.emplace_back(kCustomBadput, custom);
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : order_of(a.first) < order_of(b.first);
  });
  if (report.goodput_seconds > 0) shares.insert(shares.begin(), {std::string(kProductive), report.goodput_seconds});
  return shares;
}

Line stacked_bar(const Shares& shares, int columns, const TerminalStyle& style) {
  const std::vector<const ClassLook*> eighths = divide(shares, static_cast<size_t>(columns) * kEighths);
  Line line;
  for (size_t cell = 0; cell < eighths.size(); cell += kEighths) {
    add_divided_cell(line, std::span(eighths).subspan(cell, kEighths), kLeftBlocks, style);
  }
  return line;
}

Line plain_bar(double fraction, int columns, Color color, const TerminalStyle& style) {
  const double cells = std::clamp(fraction, 0.0, 1.0) * columns;
  Line line;
  if (!style.unicode) return Line(std::string(static_cast<size_t>(std::lround(cells)), '#'), {.foreground = color});
  const auto whole = static_cast<int>(cells);
  for (int i = 0; i < whole; ++i) line.add("█", {.foreground = color});
  const auto eighths = static_cast<size_t>(std::lround((cells - whole) * kEighths));
  // What is not nothing is seen.
  const size_t least = whole == 0 && fraction > 0 ? 1 : 0;
  if (eighths + least > 0) line.add(kLeftBlocks[std::max(eighths, least)], {.foreground = color});
  return line;
}

Ribbon make_ribbon(const Report& report, int columns) {
  const Timeline& timeline = report.timeline;
  if (timeline.buckets.empty()) return spread_attempts(report, columns);
  Ribbon ribbon{.start_ns = timeline.start_ns, .end_ns = timeline.end_ns, .cells = {}};
  ribbon.cells.resize(static_cast<size_t>(columns));
  const double buckets_per_cell = static_cast<double>(timeline.buckets.size()) / columns;
  for (int i = 0; i < columns; ++i) {
    const double from = i * buckets_per_cell;
    const double to = from + buckets_per_cell;
    for (auto b = static_cast<size_t>(from); b < timeline.buckets.size() && static_cast<double>(b) < to; ++b) {
      const auto bucket = static_cast<double>(b);
      const double overlap = std::min(to, bucket + 1) - std::max(from, bucket);
      for (const auto& [name, seconds] : timeline.buckets[b]) {
        ribbon.cells[static_cast<size_t>(i)][name] += seconds * overlap;
      }
    }
  }
  return ribbon;
}

std::vector<Line> draw_ribbon(const Ribbon& ribbon, const TerminalStyle& style) {
  if (!style.unicode) return {dominating_classes(ribbon, style)};
  if (style.colors != ColorDepth::kNone) return stacked_columns(ribbon, style);
  std::vector<Line> lines = goodput_heights(ribbon);
  lines.push_back(dominating_classes(ribbon, style));
  return lines;
}

Line draw_attempt_marks(const Ribbon& ribbon, const std::vector<Attempt>& attempts, const TerminalStyle& style) {
  Line line;
  const auto length = static_cast<double>(ribbon.end_ns - ribbon.start_ns);
  if (length <= 0) return line;
  const auto columns = static_cast<int>(ribbon.cells.size());
  for (const Attempt& attempt : attempts) {
    const auto column = static_cast<int>(static_cast<double>(attempt.start_ns - ribbon.start_ns) / length * columns);
    Line label((style.unicode ? "╵" : "^") + std::to_string(attempt.index), {.faint = true});
    const bool beside_another = line.columns() > 0 && column <= line.columns();
    if (column < 0 || beside_another || column + label.columns() > columns) continue;
    line.pad_to(column).add(label);
  }
  return line;
}

}  // namespace goodput::report
