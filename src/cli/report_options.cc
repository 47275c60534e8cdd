// SPDX-License-Identifier: Apache-2.0
#include "cli/report_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/time_text.h"

namespace goodput::cli {
namespace {

Status about(std::string_view option, const std::string& message) {
  return {StatusCode::kInvalidArgument, fmt::format("{}: {}", option, message)};
}

// Leaves `out` empty where nothing was typed.
template <typename T, typename Parse>
Status set(std::string_view option, const std::string& text, std::optional<T>& out, Parse parse) {
  if (text.empty()) return {};
  Result<T> value = parse(text);
  if (!value.ok()) return about(option, value.status().message());
  out = *value;
  return {};
}

Result<std::pair<int64_t, int64_t>> parse_interval(std::string_view text, int64_t now_ns) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return Status(StatusCode::kInvalidArgument, fmt::format("\"{}\" is not TIME/TIME", text));
  }
  ASSIGN_OR_RETURN(const int64_t start_ns, parse_time(text.substr(0, slash), now_ns));
  ASSIGN_OR_RETURN(const int64_t end_ns, parse_time(text.substr(slash + 1), now_ns));
  return std::pair{start_ns, end_ns};
}

// One interval a line; blank lines and those that begin with # are passed over.
Status read_exclusions(const std::string& path, int64_t now_ns, std::vector<std::pair<int64_t, int64_t>>& out) {
  errno = 0;
  std::ifstream in(path);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    const size_t last = line.find_last_not_of(" \t\r");
    Result<std::pair<int64_t, int64_t>> interval =
        parse_interval(std::string_view(line).substr(first, last - first + 1), now_ns);
    if (!interval.ok())
      return about("--exclude-file", fmt::format("{}, line {}: {}", path, number, interval.status().message()));
    out.push_back(*interval);
  }
  const bool cannot = !in.eof() || in.bad();
  if (cannot)
    return {StatusCode::kUnreadable, fmt::format("reading {}: {}", path, std::strerror(errno == 0 ? EIO : errno))};
  return {};
}

}  // namespace

void add_report_options(CLI::App& app, ReportOptions& options) {
  app.add_option("job", options.job, "the job: NAME, its latest run, or NAME@RUN")->type_name("JOB");
  app.add_option(
         "--input", options.input,
         "report on this log instead: payload JSON lines or a `gcloud logging read --format=json` export; - reads "
         "standard input")
      ->type_name("FILE");
  app.add_option("--job", options.job_in_input, "which job of the log")->type_name("NAME");
  app.add_option("--now", options.now, "answer as of this time")->type_name("TIME");
  app.add_option("--from", options.from, "count only what lies after")->type_name("TIME");
  app.add_option("--to", options.to, "count only what lies before")->type_name("TIME");
  app.add_option("--window", options.windows, "also report on the latest so much")
      ->type_name("DURATION")
      ->allow_extra_args(false);
  app.add_option("--exclude", options.exclusions, "leave out an interval")
      ->type_name("TIME/TIME")
      ->allow_extra_args(false);
  app.add_option("--exclude-file", options.exclusion_file, "leave out the intervals of a file, one a line")
      ->type_name("FILE");
  add_price_options(app, options.price);
  app.add_option("--dead-after", options.dead_after,
                 "silence after which a job with heartbeats is down; 60s unless told")
      ->type_name("DURATION");
  app.add_option("--stall-factor", options.stall_factor,
                 "a step stalls beyond so many typical ones; 10 unless told, 0 never")
      ->type_name("NUMBER");
  app.add_option("--stall-floor", options.stall_floor, "and at least so much beyond one; 60s unless told, 0 never")
      ->type_name("DURATION");
}

Result<ReportQuery> resolve(const ReportOptions& options, int64_t now_ns) {
  ReportQuery query;
  if (!options.job.empty() && !options.input.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "JOB and --input exclude each other: --job NAME chooses a job of a log");
  }
  if (options.job.empty() && options.input.empty()) {
    return Status(StatusCode::kInvalidArgument, "name a job, or a log with --input; `goodput jobs` lists the jobs");
  }
  if (options.input.empty() && !options.job_in_input.empty()) {
    return Status(StatusCode::kInvalidArgument, "--job goes with --input");
  }
  query.job = options.input.empty() ? options.job : options.job_in_input;
  query.input = options.input;
  const auto time = [&](const std::string& text) { return parse_time(text, query.now_ns.value_or(now_ns)); };
  const auto duration = [](const std::string& text) { return parse_duration(text); };
  RETURN_IF_ERROR(set("--now", options.now, query.now_ns, time));
  RETURN_IF_ERROR(set("--from", options.from, query.from_ns, time));
  RETURN_IF_ERROR(set("--to", options.to, query.to_ns, time));
  ASSIGN_OR_RETURN(query.price, resolve(options.price));
  RETURN_IF_ERROR(set("--dead-after", options.dead_after, query.dead_after_ns, duration));
  RETURN_IF_ERROR(set("--stall-floor", options.stall_floor, query.stall_floor_ns, duration));
  RETURN_IF_ERROR(set("--stall-factor", options.stall_factor, query.stall_factor,
                      [](const std::string& text) { return parse_amount(text); }));
  for (const std::string& text : options.windows) {
    std::optional<int64_t> window_ns;
    RETURN_IF_ERROR(set("--window", text, window_ns, duration));
    if (window_ns.value_or(0) <= 0) return about("--window", "a window is longer than nothing");
    query.windows_ns.push_back(*window_ns);
  }
  for (const std::string& text : options.exclusions) {
    Result<std::pair<int64_t, int64_t>> interval = parse_interval(text, query.now_ns.value_or(now_ns));
    if (!interval.ok()) return about("--exclude", interval.status().message());
    query.exclusions_ns.push_back(*interval);
  }
  if (!options.exclusion_file.empty()) {
    RETURN_IF_ERROR(read_exclusions(options.exclusion_file, query.now_ns.value_or(now_ns), query.exclusions_ns));
  }
  return query;
}

}  // namespace goodput::cli
