// SPDX-License-Identifier: Apache-2.0
#include "doctor/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/terminal/line.h"
#include "report/terminal/palette.h"
#include "report/terminal/sections.h"
#include "report/terminal/text.h"

namespace goodput::doctor {
namespace {

using report::Page;
using report::TerminalStyle;

struct Look {
  std::string_view symbol, ascii_symbol;
  report::Color color;
};

Look look_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGreen:
      return {"✓", "+", report::kGood};
    case Verdict::kYellow:
      return {"▲", "!", report::kFair};
    case Verdict::kRed:
      return {"✗", "X", report::kBad};
  }
  return {"✗", "X", report::kBad};
}

constexpr int kTextColumn = 27;  // symbol, verdict, the longest title

void add_line(Page& page, const Line& line) {
  const bool unicode = page.style.unicode;
  const Look look = look_of(line.opinion.verdict);
  report::Line lead(unicode ? look.symbol : look.ascii_symbol, {.foreground = look.color});
  lead.add(" ").add(to_word(line.opinion.verdict), {.foreground = look.color});
  lead.pad_to(10).add(line.title, {.bold = true}).pad_to(kTextColumn);
  report::add_paragraph(page, lead, report::printable(line.opinion.seen, unicode));
  if (line.opinion.fix.empty()) return;
  report::Line fix;
  fix.pad_to(kTextColumn).add(unicode ? "→ " : "-> ");
  report::add_paragraph(page, fix, report::printable(line.opinion.fix, unicode));
}

std::string summary_of(std::span<const Line> lines) {
  std::string summary;
  for (const Verdict verdict : {Verdict::kRed, Verdict::kYellow, Verdict::kGreen}) {
    const auto count =
        std::count_if(lines.begin(), lines.end(), [&](const Line& line) { return line.opinion.verdict == verdict; });
    if (count > 0) summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, to_word(verdict));
  }
  return summary;
}

}  // namespace

std::string render_lines(std::span<const Line> lines, std::string_view job, const TerminalStyle& style) {
  Page page(style);
  for (const Line& line : lines) add_line(page, line);
  page.add_blank();
  page.add(report::Line(summary_of(lines), {.bold = true}));
  if (job.empty()) page.add(report::Line("A job's record as well: goodput doctor --job NAME", {.faint = true}));
  return page.render();
}

std::string lines_to_json(std::span<const Line> lines, std::string_view job, report::JsonForm form) {
  using Json = nlohmann::ordered_json;
  Json object;
  object["schema"] = "goodput.doctor/1";
  object["job"] = job.empty() ? Json(nullptr) : Json(job);
  object["verdict"] = to_word(worst_of(lines));
  object["checks"] = Json::array();
  for (const Line& line : lines) {
    object["checks"].push_back({{"check", line.check},
                                {"verdict", to_word(line.opinion.verdict)},
                                {"seen", line.opinion.seen},
                                {"fix", line.opinion.fix}});
  }
  return object.dump(form == report::JsonForm::kIndented ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace goodput::doctor
