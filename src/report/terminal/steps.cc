// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "report/terminal/chart.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/sections.h"
#include "report/words.h"

namespace goodput::report {
namespace {

constexpr int kBarColumns = 24;

Cell duration_cell(const std::optional<double>& seconds) {
  return {.text = seconds ? human_duration(*seconds) : "", .ink = {.bold = true}};
}

std::string rate_text(double steps_per_second) {
  if (steps_per_second >= 0.1) return fmt::format("{:.3g} a second", steps_per_second);
  const double per_minute = steps_per_second * 60;
  return per_minute >= 0.1 ? fmt::format("{:.3g} a minute", per_minute)
                           : fmt::format("{:.3g} an hour", per_minute * 60);
}

std::string largest_loss(const Window& window) {
  const std::pair<const std::string, double>* most = nullptr;
  for (const auto& entry : window.badput_seconds) {
    if (most == nullptr || entry.second > most->second) most = &entry;
  }
  if (most == nullptr || most->second <= 0) return "";
  return fmt::format("{} {}", look_of(most->first).label, human_duration(most->second));
}

}  // namespace

void add_steps(Page& page, const Report& report) {
  if (!report.last_step) return;
  add_title(page, "Steps");
  const Ink bold{.bold = true};
  Table progress({{.title = "last step"},
                  {.title = "progress kept up to"},
                  {.title = "rate"},
                  {.title = "ideal goodput", .keep = 5},
                  {.title = "slices stepping", .keep = 3},
                  {.title = "slices available", .keep = 2}});
  progress.add_row(
      {{.text = human_count(*report.last_step), .ink = bold},
       {.text = human_count(report.max_productive_step), .ink = bold},
       {.text = report.steps_per_second ? rate_text(*report.steps_per_second) : "", .ink = bold},
       {.text = report.ideal_goodput_percent ? human_percent(*report.ideal_goodput_percent) : "", .ink = bold},
       {.text = report.slice_efficiency ? human_percent(100 * report.slice_efficiency->stepping) : "", .ink = bold},
       {.text = report.slice_efficiency ? human_percent(100 * report.slice_efficiency->available) : "", .ink = bold}});
  progress.draw(page);
  const std::optional<StepTimePercentiles>& times = report.step_time_percentiles_seconds;
  if (!times && !report.ideal_step_time_seconds) return;
  Table step_times({{.title = "ideal step"},
                    {.title = "median"},
                    {.title = "p90"},
                    {.title = "p99"},
                    {.title = "slowest"},
                    {.title = "deviation", .keep = 4}});
  const auto of = [&](double StepTimePercentiles::*member) {
    return times ? std::optional<double>((*times).*member) : std::nullopt;
  };
  step_times.add_row({duration_cell(report.ideal_step_time_seconds), duration_cell(of(&StepTimePercentiles::p50)),
                      duration_cell(of(&StepTimePercentiles::p90)), duration_cell(of(&StepTimePercentiles::p99)),
                      duration_cell(of(&StepTimePercentiles::max)), duration_cell(report.step_time_deviation_seconds)});
  step_times.draw(page);
}

void add_windows(Page& page, const Report& report) {
  if (report.windows.empty()) return;
  add_title(page, "Windows");
  Table table({{.title = "latest"},
               {.title = "goodput", .align = Align::kRight},
               {.title = "", .keep = 3},
               {.title = "most lost to", .keep = 2, .flexible = true},
               {.title = "disruptions", .align = Align::kRight}});
  for (const Window& window : report.windows) {
    const double goodput = window.goodput_percent.value_or(0);
    const Color color = color_of_goodput(goodput);
    table.add_row(
        {{.text = human_duration(window.window_seconds)},
         {.text = window.goodput_percent ? human_percent(goodput) : "none", .ink = {.foreground = color, .bold = true}},
         {.drawn = plain_bar(goodput / 100, kBarColumns, color, page.style)},
         {.text = largest_loss(window)},
         {.text = human_count(window.disruptions)}});
  }
  table.draw(page);
}

}  // namespace goodput::report
