// Looks at a job at an interval and hands what it finds to exporters.
//
//   Monitor monitor(*job, std::move(pipes), {.windows_ns = {hour_ns}}, system_clock());
//   while (!monitor.is_over()) { monitor.cycle(); sleep(interval); }
//   monitor.finish(10 * kSecond);
//
// A cycle costs what is new. Exporters that are slow or fail delay nothing here. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exporters/pipe/pipe.h"
#include "monitor/followed_job.h"
#include "monitor/monitor_status.h"
#include "monitor/trainer_watch.h"

namespace goodput::monitor {

struct MonitorOptions {
  std::vector<int64_t> windows_ns{};
  int64_t linger_ns = 60'000'000'000;  ///< how long an ended or dead job is watched on
  bool follows = false;                ///< for ever
  /// Of an accelerator-hour of that type.
  std::function<std::optional<report::Price>(std::string_view accelerator_type)> price{};
  /// What is known of this monitor beside its looks: kept beside the job's journals, its sinks filled in.
  MonitorStatus about{};
  /// The trainer of this attempt ended at that time, and nobody else has recorded it.
  std::function<void(const std::string& attempt_id, int64_t time_ns)> on_death{};
  /// What a cycle found, before it is offered.
  std::function<void(const exporters::Update& update)> on_look{};
};

class Monitor {
 public:
  Monitor(FollowedJob& job, std::vector<std::unique_ptr<exporters::Pipe>> pipes, MonitorOptions options,
          const Clock& clock);

  /// Looks once and offers what it found to every pipe. kNotFound: nothing is recorded yet.
  Status cycle() { return cycle(exporters::Figures{}); }
  /// The same about these figures only; steps wait for a cycle that is about steps.
  Status cycle(const exporters::Figures& figures);
  /// From now on: the lengths of rolling windows, and how often it looks, for whoever asks how it is.
  void set_rhythm(std::vector<int64_t> windows_ns, int64_t interval_ns) {
    options_.windows_ns = std::move(windows_ns);
    options_.about.interval_ns = interval_ns;
  }
  /// Whether the trainer has just died, so that a cycle is worth it before the interval is over.
  [[nodiscard]] bool has_news() const { return watch_.has_died() && !told_death_ && !has_failed_; }
  /// The job has ended, or its trainer is dead, or all who recorded nothing, for longer than an ended job is watched.
  [[nodiscard]] bool is_over() const;
  /// A trainer of this machine has its recorder open, whatever it says of the job.
  [[nodiscard]] bool is_being_recorded() const { return watch_.is_recording(job_->log()); }
  /// Something that was found is still to be sent.
  [[nodiscard]] bool has_unsent() const;
  /// How many processes of this machine have trained the job one after another, as seen so far.
  [[nodiscard]] uint64_t trainers_seen() const { return watch_.count(); }
  /// The same, seen anew: cheaper than a cycle.
  uint64_t look_for_trainer();
  /// Sends what waits; false when something was left over after `timeout_ns`. The monitor has ended then.
  bool finish(int64_t timeout_ns);

  [[nodiscard]] const std::vector<std::unique_ptr<exporters::Pipe>>& pipes() const { return pipes_; }

 private:
  Status look_and_offer(const exporters::Figures& figures);
  Result<exporters::Update> look(const exporters::Figures& figures);
  void choose_trainer();
  void note_end(bool has_ended);
  void tell_status();
  [[nodiscard]] bool tell_death(const report::Report& report);

  FollowedJob* job_;
  std::vector<std::unique_ptr<exporters::Pipe>> pipes_;
  MonitorOptions options_;
  const Clock* clock_;
  TrainerWatch watch_;
  bool told_death_ = false;
  bool has_failed_ = false;                       ///< the latest look: the next one waits its time
  std::optional<report::JobStatus> told_status_;  ///< as handed out last
  uint64_t status_changes_ = 0;
  int64_t steps_until_ns_ = std::numeric_limits<int64_t>::min();  ///< handed out up to here
  std::optional<int64_t> ended_boot_ns_;                          ///< when the job was first seen to have ended or died
};

}  // namespace goodput::monitor
