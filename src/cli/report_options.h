// The options of `goodput report`, as typed and as meant.
//
//   auto options = std::make_shared<ReportOptions>();
//   add_report_options(app, *options);
//   …
//   Result<ReportQuery> query = resolve(*options, context.now_ns);
//   std::optional<report::Price> price = price_for(query->price, context.config, report.accelerator_type);
//
// The option struct must live as long as the app. Nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cli/price_options.h"

namespace CLI {
class App;
}

namespace goodput::cli {

/// As typed: times, durations and numbers are texts.
struct ReportOptions {
  std::string job;    ///< JOB
  std::string input;  ///< FILE, or "-"
  std::string job_in_input;
  std::string now, from, to;
  std::vector<std::string> windows;
  std::vector<std::string> exclusions;
  std::string exclusion_file;
  PriceOptions price;
  std::string dead_after, stall_factor, stall_floor;
};

/// As meant. Empty optionals: the default, which is the engine's to choose.
struct ReportQuery {
  std::string job;    ///< as typed (parse_job); may be empty with an input
  std::string input;  ///< empty: from the store
  std::optional<int64_t> now_ns, from_ns, to_ns;
  std::vector<int64_t> windows_ns;
  std::vector<std::pair<int64_t, int64_t>> exclusions_ns;  ///< as given: empty and reversed ones are findings
  PriceChoice price;
  std::optional<int64_t> dead_after_ns, stall_floor_ns;
  std::optional<double> stall_factor;
};

void add_report_options(CLI::App& app, ReportOptions& options);

/// Reads --exclude-file, and no other file. Times are relative to --now where it is given, else to `now_ns`.
/// kInvalidArgument, naming the option, for what makes no sense; kUnreadable for the file.
Result<ReportQuery> resolve(const ReportOptions& options, int64_t now_ns);

}  // namespace goodput::cli
