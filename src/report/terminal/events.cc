// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "report/terminal/hints.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/sections.h"
#include "report/terminal/text.h"
#include "report/words.h"

namespace goodput::report {
namespace {

// As many as one takes in at a glance; `goodput disruptions` has all.
constexpr size_t kShownDisruptions = 8;

std::string nonzero_duration(double seconds) { return seconds > 0 ? human_duration(seconds) : ""; }

std::string step_change(const Disruption& disruption, bool unicode) {
  const auto step = [](const std::optional<int64_t>& number) {
    return number ? human_count(*number) : std::string("?");
  };
  if (!disruption.last_step && !disruption.resume_step) return "";
  return step(disruption.last_step) + (unicode ? " → " : " -> ") + step(disruption.resume_step);
}

void add_causes(Page& page, const Report& report) {
  std::map<std::string, int64_t> counts;
  for (const Disruption& disruption : report.disruption_records) ++counts[disruption.cause];
  if (counts.size() < 2) return;
  std::vector<std::pair<std::string, int64_t>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [cause, count] : ordered) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", human_count(count), printable(cause, page.style.unicode));
  }
  add_paragraph(page, Line("Causes: ", {.faint = true}), text);
}

std::string lateness_sentence(const std::string& name, const Rank& rank) {
  if (!rank.lateness_p90_seconds) return "";
  std::string text = fmt::format(" The latest to its steps is {}: {} late in one step of ten", name,
                                 human_duration(*rank.lateness_p90_seconds));
  if (rank.lateness_p99_seconds) {
    text += fmt::format(", {} in one of a hundred", human_duration(*rank.lateness_p99_seconds));
  }
  return text + ".";
}

Color color_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return kAccent;
    case Severity::kWarning:
      return kFair;
    case Severity::kError:
      return kBad;
  }
  return kQuiet;
}

}  // namespace

void add_title(Page& page, std::string_view title, std::string_view remark) {
  page.add_blank();
  Line line(title, {.foreground = kAccent, .bold = true});
  if (!remark.empty()) line.add("  ").add(remark, {.faint = true});
  page.add(line);
}

void add_paragraph(Page& page, const Line& lead, std::string_view text, const Ink& ink) {
  bool first = true;
  for (const std::string& part : wrap(text, page.columns() - lead.columns())) {
    Line line;
    if (first) line.add(lead);
    line.pad_to(lead.columns()).add(part, ink);
    page.add(line);
    first = false;
  }
}

Table disruption_table(const Page& page, const Report& report, size_t from) {
  const bool unicode = page.style.unicode;
  const double rate = cost_per_second(report);
  const bool rollbacks =
      std::any_of(report.disruption_records.begin(), report.disruption_records.end(),
                  [](const Disruption& disruption) { return disruption.kind == DisruptionKind::kRollback; });
  Table table({{.title = "#", .align = Align::kRight},
               {.title = "when (UTC)"},
               {.title = "kind", .keep = 2},
               {.title = "cause", .flexible = true},
               {.title = "detail", .keep = 1, .flexible = true},
               {.title = "step", .keep = 4},
               {.title = "wasted", .align = Align::kRight},
               {.title = "stalled", .align = Align::kRight, .keep = 6},
               {.title = "recovery", .align = Align::kRight},
               {.title = "cost", .align = Align::kRight, .keep = 8}});
  for (size_t i = from; i < report.disruption_records.size(); ++i) {
    const Disruption& disruption = report.disruption_records[i];
    const double lost =
        disruption.wasted_seconds + disruption.stalled_seconds + disruption.recovery_seconds.value_or(0);
    const bool unknown = disruption.cause == "unknown";
    table.add_row(
        {{.text = human_count(disruption.index)},
         {.text = human_instant(disruption.time_ns, report.end_ns - report.start_ns)},
         {.text = rollbacks ? std::string(to_word(disruption.kind)) : ""},
         {.text = shorten(printable(disruption.cause, unicode), 20, unicode) + (disruption.planned ? " (planned)" : ""),
          .ink = {.faint = unknown}},
         {.text = printable(disruption.detail, unicode), .ink = {.faint = true}},
         {.text = step_change(disruption, unicode)},
         {.text = nonzero_duration(disruption.wasted_seconds)},
         {.text = nonzero_duration(disruption.stalled_seconds)},
         {.text = disruption.recovery_seconds ? human_duration(*disruption.recovery_seconds) : "not yet"},
         {.text = rate > 0 ? human_money(rate * lost, report.currency, unicode) : ""}});
  }
  return table;
}

void add_disruptions(Page& page, const Report& report) {
  if (report.disruptions == 0 && report.disruption_records.empty()) return;
  add_title(page, "Disruptions");
  const int64_t planned = report.disruptions - report.unplanned_disruptions;
  std::string text =
      fmt::format("{} disruption{}", human_count(report.disruptions), report.disruptions == 1 ? "" : "s");
  if (planned > 0 && !report.clipped) text += fmt::format(", {} planned", human_count(planned));
  if (report.mtbf_seconds) {
    text += fmt::format("; an unplanned one every {}", human_duration(*report.mtbf_seconds));
    if (report.mtbf_interval_seconds) {
      text += fmt::format(" (90% sure: {} to {})", human_duration(report.mtbf_interval_seconds->first),
                          human_duration(report.mtbf_interval_seconds->second));
    }
  }
  if (report.mttr_seconds) text += fmt::format("; {} to recover on average", human_duration(*report.mttr_seconds));
  add_paragraph(page, {}, text + ".");
  add_causes(page, report);
  const size_t listed = report.disruption_records.size();
  const size_t from = listed > kShownDisruptions ? listed - kShownDisruptions : 0;
  const Table table = disruption_table(page, report, from);
  if (!table.empty()) table.draw(page);
  if (const int64_t hidden = static_cast<int64_t>(from) + report.disruption_records_omitted; hidden > 0) {
    page.add(Line(fmt::format("{} earlier: `goodput disruptions` lists them.", human_count(hidden)), {.faint = true}));
  }
}

void add_ranks(Page& page, const Report& report) {
  if (report.ranks.empty() && !report.first_stopped_rank) return;
  const bool unicode = page.style.unicode;
  add_title(page, "Ranks");
  const auto name = [&](int64_t index) {
    std::string text = fmt::format("rank {}", index);
    for (const Rank& rank : report.ranks) {
      if (rank.process_index == index && !rank.host.empty())
        text += " on " + shorten(printable(rank.host, unicode), 40, unicode);
    }
    return text;
  };
  std::string text = fmt::format("{} besides rank 0.", human_count(static_cast<int64_t>(report.ranks.size())));
  const auto slowest =
      std::max_element(report.ranks.begin(), report.ranks.end(), [](const Rank& first, const Rank& second) {
        return first.lateness_p90_seconds.value_or(-1) < second.lateness_p90_seconds.value_or(-1);
      });
  if (slowest != report.ranks.end()) text += lateness_sentence(name(slowest->process_index), *slowest);
  if (report.first_stopped_rank) text += fmt::format(" The first to stop was {}.", name(*report.first_stopped_rank));
  add_paragraph(page, {}, text);
}

void add_data_quality(Page& page, const Report& report) {
  add_title(page, "Data quality");
  const bool unicode = page.style.unicode;
  if (report.findings.empty()) {
    page.add(Line(unicode ? "✓ " : "", {.foreground = kGood}).add("Nothing odd was found in what was recorded."));
    return;
  }
  for (const Finding& finding : report.findings) {
    Line lead(unicode ? "● " : "* ", {.foreground = color_of(finding.severity)});
    lead.add(to_word(finding.severity), {.foreground = color_of(finding.severity)}).pad_to(11);
    add_paragraph(page, lead, printable(finding.message, unicode));
    Line fix;
    fix.pad_to(11).add(unicode ? "→ " : "-> ", {.faint = true});
    if (!finding.fix.empty()) add_paragraph(page, fix, printable(finding.fix, unicode), {.faint = true});
  }
}

void add_hints(Page& page, const Report& report) {
  const std::vector<Hint> found = hints(report);
  if (found.empty()) return;
  add_title(page, "What to do", "and what it is worth at most");
  const double rate = cost_per_second(report);
  for (const Hint& hint : found) {
    Line lead;
    if (hint.percent > 0) {
      const std::string worth = rate > 0 ? human_money(rate * report.elapsed_seconds * hint.percent / 100,
                                                       report.currency, page.style.unicode)
                                         : human_percent(hint.percent);
      lead.pad_to(9 - columns_of(worth)).add(worth, {.bold = true}).add("  ");
    } else {
      lead.pad_to(8).add("!", {.foreground = kFair, .bold = true}).add("  ");
    }
    add_paragraph(page, lead, printable(hint.text, page.style.unicode));
  }
}

}  // namespace goodput::report
