// SPDX-License-Identifier: Apache-2.0
#include "monitor/stored_job.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "report/terminal/human.h"
#include "store/cloud_logging/log_mirror.h"
#include "store/cloud_logging/log_project.h"

namespace goodput::monitor {
namespace {

using store::LogMirror;

// The service counts by the minute, and answers a question a second.
constexpr int64_t kLongestWaitNs = 60'000'000'000;
constexpr int64_t kLeastPauseNs = 1'000'000'000;

/// Asks the store no oftener than is good for it.
class StoreFeed {
 public:
  StoreFeed(std::unique_ptr<LogMirror> mirror, bool is_patient) : mirror_(std::move(mirror)), is_patient_(is_patient) {}

  Status update() {
    if (boot_time_ns() < next_boot_ns_) return latest_;
    while (true) {
      latest_ = mirror_->update();
      const int64_t pause_ns = mirror_->retry_after_ns().value_or(0);
      next_boot_ns_ = boot_time_ns() + (latest_.ok() ? kLeastPauseNs : pause_ns);
      const bool goes_on = is_patient_ && latest_.code() == StatusCode::kUnavailable && mirror_->has_progressed() &&
                           pause_ns > 0 && pause_ns <= kLongestWaitNs;
      if (!goes_on) return latest_;
      std::this_thread::sleep_for(std::chrono::nanoseconds(pause_ns));
    }
  }
  [[nodiscard]] const LogMirror& mirror() const { return *mirror_; }

 private:
  std::unique_ptr<LogMirror> mirror_;
  bool is_patient_;
  Status latest_;
  int64_t next_boot_ns_ = 0;
};

std::vector<report::Finding> findings_of(const LogMirror& mirror) {
  if (!mirror.may_be_cut_off()) return {};
  return {{.kind = "log_cut_off",
           .severity = report::Severity::kWarning,
           .count = 1,
           .message = "The log keeps no entries from before the oldest one: the job may be older.",
           .fix = "Keep the log for longer, or ask for the job where its journals are."}};
}

Status none_of(const StoredJob& what, const store::LogAddress& log) {
  std::string since;
  if (what.retention_ns)
    since = " of the last " + report::human_duration(static_cast<double>(*what.retention_ns) / 1e9);
  return {StatusCode::kNotFound, fmt::format("looking for job \"{}\" in {}{}/{}: it has no entries of it{}", what.name,
                                             store::kCloudLoggingScheme, log.project, log.log, since)};
}

/// A run that the store has, and what feeds its copy.
struct Found {
  RunName run;
  std::shared_ptr<StoreFeed> feed;
};

Result<Found> find(FileSystem& files, const std::vector<journal::Root>& roots, const StoredJob& what,
                   const Clock& clock) {
  ASSIGN_OR_RETURN(store::LogAddress log, store::parse_log_address(what.url));
  ASSIGN_OR_RETURN(log, store::with_project(std::move(log), what.environment));
  store::LogReaderOptions how{.clock = &clock};
  if (what.retention_ns) how.retention_ns = *what.retention_ns;
  const size_t at = what.name.rfind('@');
  // A job may be called so; else it is a run of what stands before.
  for (const size_t length : {what.name.size(), at}) {
    if (length == std::string::npos || length == 0) continue;
    ASSIGN_OR_RETURN(auto mirror, LogMirror::open(files, roots, {.address = log, .environment = what.environment},
                                                  what.name.substr(0, length), how));
    auto feed = std::make_shared<StoreFeed>(std::move(mirror), what.is_patient);
    RETURN_IF_ERROR(feed->update());
    Result<RunName> run = find_run(files, {feed->mirror().root()}, what.name);
    if (run.ok()) return Found{.run = std::move(*run), .feed = std::move(feed)};
  }
  return none_of(what, log);
}

}  // namespace

Result<std::unique_ptr<FollowedJob>> follow_stored(FileSystem& files, const std::vector<journal::Root>& roots,
                                                   const StoredJob& what, const ledger::Options& options,
                                                   const Clock& clock) {
  ASSIGN_OR_RETURN(const Found found, find(files, roots, what, clock));
  ASSIGN_OR_RETURN(auto job, FollowedJob::open(files, {found.feed->mirror().root()}, found.run, options, clock));
  job->feed({.update = [feed = found.feed] { return feed->update(); },
             .findings = [feed = found.feed] { return findings_of(feed->mirror()); }});
  return job;
}

Result<Fetched> fetch_stored(FileSystem& files, const std::vector<journal::Root>& roots, const StoredJob& what,
                             const Clock& clock) {
  ASSIGN_OR_RETURN(const Found found, find(files, roots, what, clock));
  const LogMirror& mirror = found.feed->mirror();
  return Fetched{.root = mirror.root(), .run = found.run, .may_be_cut_off = mirror.may_be_cut_off()};
}

}  // namespace goodput::monitor
