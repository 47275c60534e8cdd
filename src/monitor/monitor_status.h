// What a monitor tells of itself: a small file beside the job's journals, for `goodput monitor --status` and doctor.
//
//   (void)write_status(job.log(), status);                     // at every look
//   for (const MonitorStatus& each : read_statuses(job.log())) …
//
// One file for each set of sinks: a monitor that is started again with the same replaces it. JSON, "goodput.monitor/1".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exporters/pipe/pipe.h"
#include "journal/job_log.h"

namespace goodput::monitor {

struct SinkStatus {
  std::string name;
  exporters::PipeCounters counters;
};

struct MonitorStatus {
  std::string host, boot_id;
  int64_t pid = 0;
  std::string version;
  uint64_t pid_namespace = 0;  ///< in which `pid` is its number; 0: not known
  int64_t started_ns = 0;
  int64_t updated_ns = 0;           ///< wall time of the latest look
  std::optional<int64_t> ended_ns;  ///< it ended by itself; a monitor that was killed says nothing
  int64_t interval_ns = 0;
  std::vector<std::pair<std::string, std::string>> options;  ///< as in effect, passwords left out
  std::string failure;                                       ///< why the latest look found nothing out
  std::vector<SinkStatus> sinks;
};

/// How a monitor is, as far as its file tells.
enum class MonitorHealth : uint8_t {
  kRunning,
  kEnded,  ///< by itself
  kStale,  ///< it has not looked for three intervals, or its process is gone
};
/// Of the process that asks: only on its machine, in its container, another can be looked for.
struct Place {
  std::string host, boot_id;
  uint64_t pid_namespace = 0;
};
[[nodiscard]] Place this_place();
[[nodiscard]] MonitorHealth health_of(const MonitorStatus& status, int64_t now_ns, const Place& here);
[[nodiscard]] const char* to_word(MonitorHealth health);

struct SeenMonitor {
  MonitorStatus status;
  MonitorHealth health = MonitorHealth::kEnded;
};
/// The monitors of a job as this machine sees them, the newest first.
std::vector<SeenMonitor> see_monitors(const journal::JobLog& log, int64_t now_ns);

/// What a failure of any kind does is nothing: a monitor works without.
Status write_status(journal::JobLog& log, const MonitorStatus& status);

/// The newest first; what cannot be read is passed over.
std::vector<MonitorStatus> read_statuses(const journal::JobLog& log);

/// The file's text and back. Pure.
std::string status_to_json(const MonitorStatus& status);
std::optional<MonitorStatus> parse_status(std::string_view text);

}  // namespace goodput::monitor
