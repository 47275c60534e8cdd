// What a monitor hands to its exporters, and what an exporter is.
//
//   class Printer final : public Exporter {
//     Status send(const Update& update) override { … return {}; }
//   };
//   Pipe pipe(std::make_unique<Printer>(), {});          // exporters/pipe/pipe.h: a thread, retries, counters
//
// An exporter is used by one thread. A failure of code kUnavailable is tried again, with what has come meanwhile; any
// other is counted, and what it was about is given up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "report/report.h"

namespace goodput::exporters {

/// One step: how long it took by itself. A step that was done again comes again.
struct StepPoint {
  int64_t step = 0;
  double seconds = 0;
  friend bool operator==(const StepPoint&, const StepPoint&) = default;
};

/// Which of a job's figures an update is about; an exporter leaves the others alone.
struct Figures {
  bool goodput = true;  ///< of the whole job
  bool badput = true;   ///< the same by class, where a sink can do without
  bool windows = true;
  bool steps = true;  ///< each for itself
  /// What steps are measured against, in place of the report's.
  std::optional<double> ideal_step_seconds{};

  /// What either is about.
  [[nodiscard]] Figures joined(const Figures& other) const {
    return {.goodput = goodput || other.goodput,
            .badput = badput || other.badput,
            .windows = windows || other.windows,
            .steps = steps || other.steps,
            .ideal_step_seconds = other.ideal_step_seconds.has_value() ? other.ideal_step_seconds : ideal_step_seconds};
  }
  friend bool operator==(const Figures&, const Figures&) = default;
};

/// The job went over into this state, as a look at that time showed.
struct StatusChange {
  int64_t time_ns = 0;
  report::JobStatus status = report::JobStatus::kRunning;
  uint64_t number = 0;  ///< from 1, of those that one monitor has seen: an update that is sent again has the same ones
  friend bool operator==(const StatusChange&, const StatusChange&) = default;
};

/// What is known of a job after one look at it.
struct Update {
  report::Report report;
  /// Steps in the order in which they stand: all that are new, and perhaps some that an earlier update had.
  std::vector<StepPoint> steps;
  /// Since the update before; the first look's is one too.
  std::vector<StatusChange> status_changes;
  Figures figures{};
};

class Exporter {
 public:
  virtual ~Exporter() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< for messages and counters: "tensorboard runs/7b"
  virtual Status send(const Update& update) = 0;

  /// Whether it takes steps: for one that does not none are kept.
  [[nodiscard]] virtual bool takes_steps() const { return true; }
  /// After a failure: for how long the sink asked to be left alone; 0 when it did not.
  [[nodiscard]] virtual int64_t retry_after_ns() const { return 0; }
  /// Samples and records that the sink refused of updates that it took otherwise, all in all.
  [[nodiscard]] virtual uint64_t rejected() const { return 0; }
  /// Why the latest of them were, as the sink put it.
  [[nodiscard]] virtual std::string rejection() const { return ""; }
  /// After a send(): there is no such sink here, and that is as it should be. What was sent counts as nothing.
  [[nodiscard]] virtual bool is_off() const { return false; }
  /// Ends a send() that is under way within a second or so, and lets later ones fail at once. From any thread.
  virtual void cancel() {}
  /// How long the sink is to be left alone before the next send(); what comes meanwhile joins. Quick.
  [[nodiscard]] virtual int64_t pause_ns() const { return 0; }
};

}  // namespace goodput::exporters
