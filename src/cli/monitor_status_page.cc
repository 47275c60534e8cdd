// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_status_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "monitor/monitor_status.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/table.h"
#include "report/terminal/text.h"

namespace goodput::cli {
namespace {

using monitor::MonitorHealth;
using monitor::MonitorStatus;
using monitor::SeenMonitor;
using report::Align;
using report::Line;

report::Color color_of(MonitorHealth health) {
  switch (health) {
    case MonitorHealth::kRunning:
      return report::kGood;
    case MonitorHealth::kEnded:
      return report::kQuiet;
    case MonitorHealth::kStale:
      return report::kBad;
  }
  return report::kQuiet;
}

void add_sinks(report::Page& page, const MonitorStatus& status, int64_t now_ns) {
  const bool unicode = page.style.unicode;
  report::Table table({{.title = "exporter", .flexible = true},
                       {.title = "sent", .align = Align::kRight},
                       {.title = "last sent", .align = Align::kRight},
                       {.title = "waits", .keep = 4},
                       {.title = "failures", .align = Align::kRight},
                       {.title = "given up", .align = Align::kRight, .keep = 3},
                       {.title = "rejected", .align = Align::kRight, .keep = 3},
                       {.title = "dropped", .align = Align::kRight, .keep = 2}});
  for (const monitor::SinkStatus& sink : status.sinks) {
    const exporters::PipeCounters& counters = sink.counters;
    const auto count = [](uint64_t number) { return report::human_count(static_cast<int64_t>(number)); };
    const auto bad = [](uint64_t number) {
      return number > 0 ? report::Ink{.foreground = report::kBad} : report::Ink{.faint = true};
    };
    table.add_row({{.text = report::printable(sink.name, unicode)},
                   {.text = count(counters.sent)},
                   {.text = report::human_ago(counters.last_success_ns, now_ns)},
                   {.text = counters.is_waiting ? "yes" : "no"},
                   {.text = count(counters.failed), .ink = bad(counters.failed)},
                   {.text = count(counters.given_up), .ink = bad(counters.given_up)},
                   {.text = count(counters.rejected), .ink = bad(counters.rejected)},
                   {.text = count(counters.dropped_steps), .ink = bad(counters.dropped_steps)}});
  }
  table.draw(page);
  for (const monitor::SinkStatus& sink : status.sinks) {
    for (const std::string* what : {&sink.counters.last_failure, &sink.counters.last_rejection}) {
      if (what->empty()) continue;
      page.add(Line(report::printable(sink.name + ": " + *what, unicode), {.foreground = report::kBad}));
    }
  }
}

void add_monitor(report::Page& page, const MonitorStatus& status, MonitorHealth health, int64_t now_ns) {
  const bool unicode = page.style.unicode;
  Line title(monitor::to_word(health), {.foreground = color_of(health), .bold = true});
  title.add(fmt::format("  process {} on {}, looked {}, every {}", status.pid, report::printable(status.host, unicode),
                        report::human_ago(status.updated_ns, now_ns),
                        report::human_duration(static_cast<double>(status.interval_ns) / 1e9)));
  page.add(title);
  if (!status.failure.empty()) page.add(Line(report::printable(status.failure, unicode), {.foreground = report::kBad}));
  std::string options;
  for (const auto& [name, value] : status.options) options += " --" + name + (value == "true" ? "" : " " + value);
  page.add(Line(report::shorten(report::printable("started with" + options, unicode), page.columns(), unicode),
                {.faint = true}));
  add_sinks(page, status, now_ns);
}

std::string page_of(const std::string& job, const std::vector<SeenMonitor>& monitors, const Context& context) {
  report::Page page(context.style());
  page.add(Line(report::printable(job, page.style.unicode), {.bold = true})
               .add(monitors.empty()
                        ? ": no monitor has looked at it"
                        : fmt::format(": {} monitor{}", monitors.size(), monitors.size() == 1 ? "" : "s")));
  for (const auto& [status, health] : monitors) {
    page.add_blank();
    add_monitor(page, status, health, context.now_ns);
  }
  return page.render();
}

std::string json_of(const std::string& job, const std::vector<SeenMonitor>& monitors, bool is_indented) {
  nlohmann::ordered_json json;
  json["schema"] = "goodput.monitors/1";
  json["job"] = job;
  json["monitors"] = nlohmann::ordered_json::array();
  for (const auto& [status, health] : monitors) {
    nlohmann::ordered_json one;
    one["health"] = monitor::to_word(health);
    one.update(nlohmann::ordered_json::parse(monitor::status_to_json(status)));
    json["monitors"].push_back(std::move(one));
  }
  return json.dump(is_indented ? 2 : -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int show_monitor_status(Context& context, const std::string& job) {
  const Result<std::unique_ptr<monitor::FollowedJob>> followed = follow_job(context, job, {});
  if (!followed.ok()) return context.fail("monitor", followed.status());
  const std::vector<SeenMonitor> monitors = monitor::see_monitors((*followed)->log(), context.now_ns);
  const int shown =
      context.print(context.globals.json ? json_of(job, monitors, context.json_form() == report::JsonForm::kIndented)
                                         : page_of(job, monitors, context));
  if (shown != kDone) return shown;
  const auto is_running = [](const SeenMonitor& seen) { return seen.health == MonitorHealth::kRunning; };
  return std::any_of(monitors.begin(), monitors.end(), is_running) ? kDone : kAnswerIsNo;
}

}  // namespace goodput::cli
