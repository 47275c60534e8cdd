// The report: what goodput answers about a job, as plain values. The JSON object, the terminal rendering, the Python
// dataclasses and the exporters are all views of this.
//
// Field names are the JSON names (docs/formats/report.md). An absent answer is an empty optional, never 0.
// Times are nanoseconds since the epoch; durations are seconds, rounded once when the report is made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goodput::report {

/// Name of a class, or of a custom event → seconds; only names with time. Where custom events have no map of their own
/// beside this one (attempts, recoveries, the timeline, hours, cost), their sum is under CUSTOM_BADPUT_EVENTS.
using SecondsByName = std::map<std::string, double>;

enum class JobStatus : uint8_t { kRunning, kCompleted, kFailed, kStalled, kDown };
enum class AttemptStatus : uint8_t { kRunning, kCompleted, kFailed, kDied };
enum class DisruptionKind : uint8_t { kRestart, kRollback };
enum class Severity : uint8_t { kInfo, kWarning, kError };

struct StepTimePercentiles {
  double p50 = 0, p90 = 0, p99 = 0, max = 0;
};

struct SliceEfficiency {
  double stepping = 0, available = 0;
};

struct Attempt {
  int64_t index = 0;
  std::string id{};
  std::string host{};
  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< death, or the report's end while it runs
  AttemptStatus status = AttemptStatus::kRunning;
  std::optional<int> exit_code{}, exit_signal{};
  std::optional<int64_t> first_step{}, last_step{};
  double elapsed_seconds = 0, goodput_seconds = 0;
  SecondsByName badput_seconds{};
};

struct Disruption {
  int64_t index = 0;
  DisruptionKind kind = DisruptionKind::kRestart;
  int64_t time_ns = 0;  ///< death of the attempt, or the last step record before a rollback
  int64_t attempt = 0;  ///< index of the attempt that it began (restart) or happened in (rollback)
  bool planned = false;
  std::string cause = "unknown";
  std::string cause_source = "none";  ///< launcher, platform, user or none
  std::string detail{};
  bool completed_end = false;
  std::optional<int64_t> last_step{}, resume_step{};
  int64_t steps_wasted = 0;
  double wasted_seconds = 0, stalled_seconds = 0;
  std::optional<double> recovery_seconds{};  ///< empty while no step followed
  SecondsByName recovery_by_class_seconds{};
};

struct Window {
  double window_seconds = 0;
  int64_t start_ns = 0, end_ns = 0;
  double elapsed_seconds = 0, goodput_seconds = 0;
  std::optional<double> goodput_percent{};
  SecondsByName badput_seconds{}, custom_badput_seconds{};
  int64_t disruptions = 0;
  std::optional<SliceEfficiency> slice_efficiency{};  ///< for exporters; not in the JSON
};

struct Rank {
  int64_t process_index = 0;
  std::string host{};
  std::optional<int64_t> last_heartbeat_ns{};
  std::optional<double> lateness_p90_seconds{}, lateness_p99_seconds{};
};

/// Where the time went along the job, for ribbons and area charts: buckets of equal length that cover [start_ns,
/// end_ns), at most kMaxTimelineBuckets of them. Each bucket has the seconds of PRODUCTIVE and of every badput class.
struct Timeline {
  int64_t start_ns = 0, end_ns = 0;
  std::vector<SecondsByName> buckets{};  ///< empty when no timeline was made
};
constexpr int kMaxTimelineBuckets = 200;  // more than the 160 columns of the widest rendering

struct Finding {
  std::string kind{};  ///< clock_skew, two_writers, unclosed_event, malformed_entry, …
  Severity severity = Severity::kWarning;
  int64_t count = 0;
  std::optional<double> seconds{};
  std::optional<int64_t> first_ns{};
  std::string message{};  ///< what was seen, one sentence
  std::string fix{};      ///< what to do about it, one sentence
};

struct Report {
  std::string job{};
  std::string run_id{};
  std::map<std::string, std::string> labels{};
  JobStatus status = JobStatus::kRunning;
  bool provisional = true;
  bool clipped = false;  ///< --from/--to were given
  int64_t start_ns = 0, end_ns = 0, as_of_ns = 0;

  double elapsed_seconds = 0, goodput_seconds = 0;
  std::optional<double> goodput_percent{};
  SecondsByName badput_seconds{}, custom_badput_seconds{};
  double async_data_loading_seconds = 0;

  int64_t max_productive_step = 0;
  std::optional<int64_t> last_step{};
  std::optional<double> steps_per_second{}, ideal_step_time_seconds{}, step_time_deviation_seconds{},
      ideal_goodput_percent{};
  std::optional<StepTimePercentiles> step_time_percentiles_seconds{};
  std::optional<SliceEfficiency> slice_efficiency{};

  int64_t disruptions = 0, unplanned_disruptions = 0;
  std::optional<double> mtbf_seconds{}, mttr_seconds{};
  std::optional<std::pair<double, double>> mtbf_interval_seconds{};  ///< 90 %, exact (chi-square)

  std::optional<int64_t> accelerators{};
  std::string accelerator_type{};
  SecondsByName
      accelerator_hours{};  ///< by class, PRODUCTIVE and custom events (their sum) included; empty when unknown
  SecondsByName cost{};     ///< the same in `currency`; empty when unknown
  std::string currency{};   ///< empty when no price is known

  std::vector<Attempt> attempts{};  ///< latest 1,000
  int64_t attempts_omitted = 0;
  std::vector<Disruption> disruption_records{};  ///< latest 1,000
  int64_t disruption_records_omitted = 0;
  std::vector<Window> windows{};
  std::vector<std::pair<int64_t, int64_t>> exclusions{};
  std::vector<Rank> ranks{};
  std::optional<int64_t> first_stopped_rank{};
  std::vector<Finding> findings{};
  Timeline timeline{};
};

}  // namespace goodput::report
