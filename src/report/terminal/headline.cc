// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/terminal/chart.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/sections.h"
#include "report/terminal/text.h"
#include "report/words.h"

namespace goodput::report {
namespace {

// Figures of four by five points, drawn in half blocks: three lines of text.
constexpr int kGlyphRows = 5;
struct Glyph {
  char character;
  std::array<std::string_view, kGlyphRows> rows;
};
constexpr std::array<Glyph, 14> kGlyphs = {{
    {'0', {"####", "#  #", "#  #", "#  #", "####"}},
    {'1', {"## ", " # ", " # ", " # ", "###"}},
    {'2', {"####", "   #", "####", "#   ", "####"}},
    {'3', {"####", "   #", " ###", "   #", "####"}},
    {'4', {"#  #", "#  #", "####", "   #", "   #"}},
    {'5', {"####", "#   ", "####", "   #", "####"}},
    {'6', {"####", "#   ", "####", "#  #", "####"}},
    {'7', {"####", "   #", "  # ", "  # ", "  # "}},
    {'8', {"####", "#  #", "####", "#  #", "####"}},
    {'9', {"####", "#  #", "####", "   #", "####"}},
    {'.', {" ", " ", " ", " ", "#"}},
    {'%', {"##  #", "## # ", "  #  ", " # ##", "#  ##"}},
    {'<', {"  #", " # ", "#  ", " # ", "  #"}},
    {'>', {"#  ", " # ", "  #", " # ", "#  "}},
}};

std::vector<std::string> large_figures(std::string_view text) {
  std::vector<std::string> lines(3);
  for (const char character : text) {
    for (const Glyph& glyph : kGlyphs) {
      if (glyph.character != character) continue;
      for (size_t row = 0; row < lines.size(); ++row) {
        for (size_t i = 0; i < glyph.rows[0].size(); ++i) {
          const bool upper = glyph.rows[2 * row][i] == '#';
          const bool lower = 2 * row + 1 < kGlyphRows && glyph.rows[2 * row + 1][i] == '#';
          lines[row] += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
        }
        lines[row] += " ";
      }
    }
  }
  return lines;
}

void add_name_and_status(Page& page, const Report& report) {
  const bool unicode = page.style.unicode;
  Line status = status_word(report.status, page.style);
  if (report.provisional) status.add(", so far", {.faint = true});
  if (report.clipped) status.add(", clipped", {.faint = true});
  std::string name = printable(report.job, unicode);
  if (!report.run_id.empty()) name += " @ " + printable(report.run_id, unicode);
  const int room = page.columns() - status.columns() - 2;
  Line line(shorten(name, room, unicode), {.bold = true});
  line.pad_to(page.columns() - status.columns()).add(status);
  page.add(line);
}

// Machines, times and labels: what one needs to know which job this is.
void add_identity(Page& page, const Report& report) {
  const bool unicode = page.style.unicode;
  const std::string dot = unicode ? " · " : ", ";
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : dot) + fact; };
  if (report.accelerators) {
    std::string type = printable(report.accelerator_type, unicode);
    const bool named = !type.empty();
    const std::string times = unicode ? "× " : "x ";
    if (!named) type = *report.accelerators == 1 ? "accelerator" : "accelerators";
    add(fmt::format("{} {}{}", human_count(*report.accelerators), named ? times : "", type));
  }
  if (report.start_ns != report.end_ns) {
    const int64_t span_ns = report.end_ns - report.start_ns;
    add(fmt::format("{} to {} UTC", human_instant(report.start_ns, span_ns), human_instant(report.end_ns, span_ns)));
  } else {
    add(fmt::format("started {} UTC", human_instant(report.start_ns)));
  }
  const auto attempts = static_cast<int64_t>(report.attempts.size()) + report.attempts_omitted;
  if (attempts > 0) add(fmt::format("{} attempt{}", human_count(attempts), attempts == 1 ? "" : "s"));
  for (const auto& [key, value] : report.labels) {
    add(shorten(printable(key, unicode) + "=" + printable(value, unicode), 40, unicode));
  }
  for (const std::string& line : wrap(facts, page.columns())) page.add(Line(line, {.faint = true}));
}

// "stalled 1h 30m, custom events 30m 11s": the two that took most.
std::string largest_losses(const Report& report) {
  std::string text;
  int named = 0;
  for (const auto& [name, seconds] : shares_of(report)) {
    if (name == kProductive || named == 2) continue;
    text += fmt::format("{}{} {}", named == 0 ? "" : ", ", look_of(name).label, human_duration(seconds));
    ++named;
  }
  return text;
}

// The three lines that stand beside the figure.
std::vector<Line> explanations(const Page& page, const Report& report) {
  std::vector<Line> lines(3);
  lines[0].add("goodput", {.bold = true}).add(" of ").add(human_duration(report.elapsed_seconds));
  lines[0].add(report.clipped ? " inside what was asked for" : " elapsed");
  const double lost = std::max(0.0, report.elapsed_seconds - report.goodput_seconds);
  lines[1].add(fmt::format("{} became progress, {} did not", human_duration(report.goodput_seconds),
                           lost > 0 ? human_duration(lost) : "nothing"));
  if (const double rate = cost_per_second(report); rate > 0 && lost > 0) {
    lines[1].add(fmt::format(": {} of {}", human_money(rate * lost, report.currency, page.style.unicode),
                             human_money(rate * report.elapsed_seconds, report.currency, page.style.unicode)));
  }
  if (const std::string losses = largest_losses(report); !losses.empty()) lines[2].add("lost most to " + losses);
  return lines;
}

}  // namespace

Line status_word(JobStatus status, const TerminalStyle& style) {
  Color color = kGood;
  if (status == JobStatus::kFailed || status == JobStatus::kDown) color = kBad;
  if (status == JobStatus::kStalled) color = kFair;
  if (status == JobStatus::kCompleted) color = kAccent;
  Line line;
  if (style.unicode) line.add("● ", {.foreground = color});
  return line.add(to_word(status), {.foreground = color, .bold = true});
}

Color color_of_goodput(double percent) { return percent >= 80 ? kGood : percent >= 60 ? kFair : kBad; }

double cost_per_second(const Report& report) {
  double cost = 0;
  for (const auto& [name, amount] : report.cost) cost += amount;
  return report.currency.empty() || report.elapsed_seconds <= 0 ? 0 : cost / report.elapsed_seconds;
}

void add_headline(Page& page, const Report& report) {
  add_name_and_status(page, report);
  add_identity(page, report);
  page.add_blank();
  if (!report.goodput_percent) {
    page.add(Line(report.clipped ? "No time of the job is inside what was asked for." : "No time has passed yet.",
                  {.bold = true}));
    return;
  }
  const std::string figure = human_percent(*report.goodput_percent);
  const Color color = color_of_goodput(*report.goodput_percent);
  const std::vector<Line> beside = explanations(page, report);
  const std::vector<std::string> figures = large_figures(figure);
  const int indent = columns_of(figures[0]) + 2;
  bool large = page.colored() && page.style.unicode;
  for (const Line& line : beside) large = large && indent + line.columns() <= page.columns();
  if (!large) {
    page.add(Line(figure + " ", {.foreground = color, .bold = true}).add(beside[0]));
    add_paragraph(page, {}, beside[1].render({}));
    if (beside[2].columns() > 0) add_paragraph(page, {}, beside[2].render({}));
    return;
  }
  for (size_t row = 0; row < figures.size(); ++row) {
    page.add(Line(figures[row], {.foreground = color}).pad_to(indent).add(beside[row]));
  }
}

}  // namespace goodput::report
