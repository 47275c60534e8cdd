// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "report/rates.h"
#include "report/terminal.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/sections.h"
#include "report/terminal/text.h"
#include "report/words.h"

namespace goodput::report {
namespace {

// Lists show times to the minute.
constexpr int64_t kLongSpanNs = 86'400'000'000'000;

std::string job_name(const std::string& job, const std::string& run_id, bool unicode) {
  return printable(job, unicode) + (run_id.empty() ? "" : "@" + printable(run_id, unicode));
}

// "llama-7b: 12 attempts"; what the list leaves out is said here.
void add_list_title(Page& page, const Report& report, std::string_view noun, size_t listed, int64_t omitted) {
  const bool unicode = page.style.unicode;
  const auto total = static_cast<int64_t>(listed) + omitted;
  const std::string count = fmt::format(": {} {}{}", human_count(total), noun, total == 1 ? "" : "s");
  const std::string name =
      shorten(job_name(report.job, report.run_id, unicode), page.columns() - columns_of(count), unicode);
  page.add(Line(name, {.bold = true}).add(count));
  if (omitted > 0) page.add(Line(fmt::format("The first {} are not listed.", human_count(omitted)), {.faint = true}));
}

std::string how_it_ended(const Attempt& attempt) {
  if (attempt.exit_signal) return human_signal(*attempt.exit_signal);
  if (attempt.exit_code) return fmt::format("exit {}", *attempt.exit_code);
  return "";
}

Color color_of(AttemptStatus status) {
  switch (status) {
    case AttemptStatus::kRunning:
      return kGood;
    case AttemptStatus::kCompleted:
      return kAccent;
    case AttemptStatus::kFailed:
    case AttemptStatus::kDied:
      return kBad;
  }
  return kQuiet;
}

std::string largest_loss(const SecondsByName& badput) {
  std::string_view most;
  double most_seconds = 0;
  for (const auto& [name, seconds] : badput) {
    if (seconds <= most_seconds) continue;
    most = name;
    most_seconds = seconds;
  }
  return most.empty() ? "" : fmt::format("{} {}", look_of(most).label, human_duration(most_seconds));
}

std::string steps_of(const Attempt& attempt) {
  if (!attempt.first_step || !attempt.last_step) return "none";
  return human_count(*attempt.first_step) + " to " + human_count(*attempt.last_step);
}

Cell goodput_cell(const std::optional<double>& goodput) {
  if (!goodput) return {};
  return {.text = human_percent(*goodput), .ink = {.foreground = color_of_goodput(*goodput), .bold = true}};
}

}  // namespace

std::string render_attempts(const Report& report, const TerminalStyle& style) {
  Page page(style);
  const bool unicode = page.style.unicode;
  add_list_title(page, report, "attempt", report.attempts.size(), report.attempts_omitted);
  if (report.attempts.empty()) return page.render();
  Table table({{.title = "#", .align = Align::kRight},
               {.title = "started (UTC)", .keep = 7},
               {.title = "ran", .align = Align::kRight},
               {.title = "status"},
               {.title = "exit", .keep = 6},
               {.title = "steps"},
               {.title = "goodput", .align = Align::kRight},
               {.title = "most lost to", .keep = 3, .flexible = true},
               {.title = "host", .keep = 2, .flexible = true}});
  for (const Attempt& attempt : report.attempts) {
    table.add_row({{.text = human_count(attempt.index)},
                   {.text = human_instant(attempt.start_ns, report.end_ns - report.start_ns)},
                   {.text = human_duration(attempt.elapsed_seconds)},
                   {.text = std::string(to_word(attempt.status)), .ink = {.foreground = color_of(attempt.status)}},
                   {.text = how_it_ended(attempt)},
                   {.text = steps_of(attempt)},
                   goodput_cell(percent(attempt.goodput_seconds, attempt.elapsed_seconds)),
                   {.text = largest_loss(attempt.badput_seconds)},
                   {.text = printable(attempt.host, unicode), .ink = {.faint = true}}});
  }
  table.draw(page);
  return page.render();
}

std::string render_disruptions(const Report& report, const TerminalStyle& style) {
  Page page(style);
  add_list_title(page, report, "disruption", report.disruption_records.size(), report.disruption_records_omitted);
  if (!report.disruption_records.empty()) disruption_table(page, report, 0).draw(page);
  return page.render();
}

std::string render_ranks(const Report& report, const TerminalStyle& style) {
  Page page(style);
  const bool unicode = page.style.unicode;
  add_list_title(page, report, "rank", report.ranks.size(), 0);
  if (report.ranks.empty()) {
    page.add(Line("Only rank 0 recorded.", {.faint = true}));
    return page.render();
  }
  Table table({{.title = "rank", .align = Align::kRight},
               {.title = "late, p90", .align = Align::kRight},
               {.title = "late, p99", .align = Align::kRight},
               {.title = "last heartbeat (UTC)", .keep = 5},
               {.title = "host", .flexible = true},
               {.title = ""}});
  for (const Rank& rank : report.ranks) {
    const bool first_to_stop = report.first_stopped_rank == rank.process_index;
    table.add_row({{.text = std::to_string(rank.process_index)},
                   {.text = rank.lateness_p90_seconds ? human_duration(*rank.lateness_p90_seconds) : ""},
                   {.text = rank.lateness_p99_seconds ? human_duration(*rank.lateness_p99_seconds) : ""},
                   {.text = rank.last_heartbeat_ns ? human_instant(*rank.last_heartbeat_ns) : ""},
                   {.text = printable(rank.host, unicode)},
                   {.text = first_to_stop ? "stopped first" : "", .ink = {.foreground = kBad, .bold = true}}});
  }
  table.draw(page);
  return page.render();
}

std::string render_jobs(std::span<const JobSummary> jobs, const TerminalStyle& style) {
  Page page(style);
  const bool unicode = page.style.unicode;
  if (jobs.empty()) {
    page.add(Line("No jobs."));
    return page.render();
  }
  Table table({{.title = "job", .flexible = true},
               {.title = "status"},
               {.title = "goodput", .align = Align::kRight},
               {.title = "elapsed", .align = Align::kRight},
               {.title = "last step", .align = Align::kRight, .keep = 5},
               {.title = "attempts", .align = Align::kRight, .keep = 4},
               {.title = "disruptions", .align = Align::kRight, .keep = 3},
               {.title = "cost", .align = Align::kRight, .keep = 6},
               {.title = "until (UTC)", .keep = 2}});
  for (const JobSummary& job : jobs) {
    table.add_row({{.text = job_name(job.job, job.run_id, unicode), .ink = {.bold = true}},
                   {.drawn = status_word(job.status, page.style)},
                   goodput_cell(job.goodput_percent),
                   {.text = human_duration(job.elapsed_seconds)},
                   {.text = job.last_step ? human_count(*job.last_step) : ""},
                   {.text = human_count(job.attempts)},
                   {.text = human_count(job.disruptions)},
                   {.text = job.cost ? human_money(*job.cost, job.currency, unicode) : ""},
                   {.text = human_instant(job.end_ns, kLongSpanNs)}});
  }
  table.draw(page);
  return page.render();
}

}  // namespace goodput::report
