// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/rates.h"
#include "report/terminal/chart.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/sections.h"
#include "report/terminal/text.h"
#include "report/words.h"

namespace goodput::report {
namespace {

// Names of custom events that have a row of their own; the rest share one.
constexpr size_t kCustomRows = 8;
constexpr int kBarColumns = 14;
// Shares below this are in the table, not in the legend of the bar.
constexpr double kLegendPercent = 0.5;

Line swatch(const ClassLook& look, const TerminalStyle& style) {
  const bool block = style.colors != ColorDepth::kNone && style.unicode;
  if (block) return Line("■", {.foreground = look.color});
  const bool solid = style.unicode && look.name == kProductive;
  return Line(solid ? std::string("█") : std::string(1, look.letter));
}

double share_of(double seconds, const Report& report) { return percent(seconds, report.elapsed_seconds).value_or(0); }

// As many items to a line as fit.
void add_flowing(Page& page, const std::vector<Line>& items) {
  constexpr int kSpace = 3;
  Line line;
  for (const Line& item : items) {
    if (line.columns() > 0 && line.columns() + kSpace + item.columns() > page.columns()) {
      page.add(line);
      line = {};
    }
    if (line.columns() > 0) line.pad_to(line.columns() + kSpace);
    line.add(item);
  }
  if (line.columns() > 0) page.add(line);
}

class BreakdownTable {
 public:
  BreakdownTable(const Page& page, const Report& report)
      : page_(page),
        report_(report),
        rate_(cost_per_second(report)),
        table_({{.title = ""},
                {.title = "time", .align = Align::kRight},
                {.title = "share", .align = Align::kRight},
                {.title = "", .keep = 4},
                {.title = hours_title(report), .align = Align::kRight, .keep = 3},
                {.title = "cost", .align = Align::kRight},
                {.title = "", .keep = 1}}) {}

  void add(const ClassLook& look, const std::string& label, double seconds, std::string_view meaning) {
    Line name = swatch(look, page_.style);
    name.add(" ").add(shorten(label, 28, page_.style.unicode));
    const double share = share_of(seconds, report_);
    table_.add_row({{.drawn = name},
                    {.text = human_duration(seconds)},
                    {.text = human_percent(share)},
                    {.drawn = plain_bar(share / 100, kBarColumns, look.color, page_.style)},
                    {.text = hours(seconds)},
                    {.text = cost(seconds)},
                    {.text = std::string(meaning), .ink = {.faint = true}}});
  }
  void add_total() {
    const Ink bold{.bold = true};
    table_.add_row({{.text = "  elapsed", .ink = bold},
                    {.text = human_duration(report_.elapsed_seconds), .ink = bold},
                    {},
                    {},
                    {.text = hours(report_.elapsed_seconds), .ink = bold},
                    {.text = cost(report_.elapsed_seconds), .ink = bold},
                    {}});
  }
  void draw(Page& page) const { table_.draw(page); }

 private:
  static std::string hours_title(const Report& report) { return report.accelerators ? "accelerator-h" : ""; }
  [[nodiscard]] std::string hours(double seconds) const {
    if (!report_.accelerators) return "";
    const double value = seconds * static_cast<double>(*report_.accelerators) / 3600;
    return value < 99.95 ? fmt::format("{:.1f}", value) : human_count(std::llround(value));
  }
  [[nodiscard]] std::string cost(double seconds) const {
    return rate_ > 0 ? human_money(rate_ * seconds, report_.currency, page_.style.unicode) : "";
  }

  const Page& page_;
  const Report& report_;
  double rate_;
  Table table_;
};

void add_custom_rows(BreakdownTable& table, const Report& report, bool unicode) {
  Shares custom(report.custom_badput_seconds.begin(), report.custom_badput_seconds.end());
  std::stable_sort(custom.begin(), custom.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const ClassLook& look = look_of(kCustomBadput);
  const size_t shown = custom.size() <= kCustomRows ? custom.size() : kCustomRows - 1;
  for (size_t i = 0; i < shown; ++i) {
    table.add(look, printable(custom[i].first, unicode), custom[i].second, "custom event");
  }
  double rest = 0;
  for (size_t i = shown; i < custom.size(); ++i) rest += custom[i].second;
  if (rest > 0) table.add(look, fmt::format("{} more custom events", custom.size() - shown), rest, "");
}

}  // namespace

void add_where_the_time_went(Page& page, const Report& report) {
  const Shares shares = shares_of(report);
  if (shares.empty()) return;
  add_title(page, "Where the time went");
  page.add(stacked_bar(shares, page.columns(), page.style));
  std::vector<Line> items;
  double rest = 0;
  for (const auto& [name, seconds] : shares) {
    const double share = share_of(seconds, report);
    if (share < kLegendPercent) {
      rest += share;
      continue;
    }
    Line item = swatch(look_of(name), page.style);
    items.push_back(item.add(" ").add(look_of(name).label).add(" ").add(human_percent(share), {.bold = true}));
  }
  if (rest > 0) items.push_back(Line("all else ").add(human_percent(rest), {.bold = true}));
  add_flowing(page, items);
}

void add_timeline(Page& page, const Report& report) {
  if (report.attempts.empty() || report.end_ns <= report.start_ns) return;
  const auto attempts = static_cast<int64_t>(report.attempts.size()) + report.attempts_omitted;
  add_title(page, "Over time");
  const Ribbon ribbon = make_ribbon(report, page.columns());
  for (const Line& line : draw_ribbon(ribbon, page.style)) page.add(line);
  // With more than an attempt a column a row of marks says nothing.
  if (attempts > 1 && attempts <= page.columns()) page.add(draw_attempt_marks(ribbon, report.attempts, page.style));
  const int64_t span_ns = ribbon.end_ns - ribbon.start_ns;
  const std::string from = human_instant(ribbon.start_ns, span_ns);
  const std::string to = human_instant(ribbon.end_ns, span_ns) + " UTC";
  Line axis(from, {.faint = true});
  const std::string middle =
      fmt::format("{} a column", human_duration(static_cast<double>(span_ns) / 1e9 / page.columns()));
  const int middle_at = (page.columns() - columns_of(middle)) / 2;
  const bool fits = middle_at > axis.columns() && middle_at + columns_of(middle) < page.columns() - columns_of(to);
  if (fits) axis.pad_to(middle_at).add(middle, {.faint = true});
  axis.pad_to(page.columns() - columns_of(to)).add(to, {.faint = true});
  page.add(axis);
}

void add_breakdown(Page& page, const Report& report) {
  const Shares shares = shares_of(report);
  if (shares.empty()) return;
  add_title(page, "Breakdown");
  BreakdownTable table(page, report);
  for (const auto& [name, seconds] : shares) {
    if (name == kCustomBadput) {
      add_custom_rows(table, report, page.style.unicode);
    } else {
      // A class of a newer version has no look of its own: its word is shown.
      const ClassLook& look = look_of(name);
      const bool known = look.name == name;
      table.add(look, known ? std::string(look.label) : printable(name, page.style.unicode), seconds,
                known ? look.meaning : "");
    }
  }
  table.add_total();
  table.draw(page);
  if (report.async_data_loading_seconds > 0) {
    add_paragraph(page, Line("  "),
                  fmt::format("Data loading that overlapped steps, and so cost nothing: {}",
                              human_duration(report.async_data_loading_seconds)),
                  {.faint = true});
  }
}

}  // namespace goodput::report
