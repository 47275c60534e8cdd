// The options of the commands that name a job and little else: attempts, disruptions, ranks, end, split.
//
//   auto options = std::make_shared<SplitOptions>();
//   add_split_options(app, *options);
//   …
//   Result<int64_t> at_ns = split_time(*options, context.now_ns);
//   const JobRef ref = parse_job(options->job);
//
// Option structs must live as long as the app. Nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace CLI {
class App;
}

namespace goodput::cli {

/// A job as it is named on the command line: NAME (its latest run) or NAME@RUN.
struct JobRef {
  std::string job;
  std::optional<std::string> run_id;  ///< empty: the latest run
  friend bool operator==(const JobRef&, const JobRef&) = default;
};

/// Cuts at the last '@' that has something on both sides. A name may hold any character: ask for a job that is called
/// `text` as a whole first, and for this one when there is none.
JobRef parse_job(std::string_view text);

struct JobOptions {
  std::string job;
};
/// JOB, for `attempts`, `disruptions` and `ranks`.
void add_job_options(CLI::App& app, JobOptions& options);

struct EndOptions {
  std::string job;
  bool failed = false;
};
void add_end_options(CLI::App& app, EndOptions& options);

struct SplitOptions {
  std::string job;
  std::string at;
};
void add_split_options(CLI::App& app, SplitOptions& options);
/// Where to split; kInvalidArgument without --at or for what is no time.
Result<int64_t> split_time(const SplitOptions& options, int64_t now_ns);

}  // namespace goodput::cli
