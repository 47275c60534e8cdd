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

/// What is known of a job after one look at it.
struct Update {
  report::Report report;
  /// Steps in the order in which they stand: all that are new, and perhaps some that an earlier update had.
  std::vector<StepPoint> steps;
};

class Exporter {
 public:
  virtual ~Exporter() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< for messages and counters: "tensorboard runs/7b"
  virtual Status send(const Update& update) = 0;
  /// How long the sink is to be left alone before the next send(); what comes meanwhile joins. Quick.
  [[nodiscard]] virtual int64_t pause_ns() const { return 0; }
};

}  // namespace goodput::exporters
