// One exporter's way out: a thread of its own, so that a slow, failing or hanging sink delays neither the monitor nor
// the others.
//
//   Pipe pipe(std::move(exporter), {});
//   pipe.offer(update);                           // returns at once
//   pipe.finish(10 * kSecond);                    // the last word, bounded in time
//   pipe.counters().sent;
//
// What waits is bounded: of reports the latest stands for all (figures are states, not increments), of steps and
// changes of the job's state all are kept up to a limit, beyond which the oldest are dropped. Delivery is at least
// once. Thread-safe. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "exporters/exporter.h"

namespace goodput::exporters {

struct PipeOptions {
  int64_t first_retry_ns = 1'000'000'000;  ///< doubles with each failure in a row, give or take a fifth …
  int64_t last_retry_ns = 60'000'000'000;  ///< … up to this; longer where the sink asks for it
  size_t max_steps = 2'000'000;            ///< that wait
};

struct PipeCounters {
  uint64_t offered = 0;        ///< updates
  uint64_t sent = 0;           ///< updates that the sink took, joined ones as one
  uint64_t failed = 0;         ///< attempts that did not succeed
  uint64_t given_up = 0;       ///< updates that the sink refused for good
  uint64_t dropped_steps = 0;  ///< that waited too long behind others
  uint64_t rejected = 0;       ///< samples and records that the sink refused of updates that it took
  bool is_waiting = false;     ///< something is still to be sent
  int64_t last_success_ns = 0;
  std::string last_failure{};    ///< empty after a success
  std::string last_rejection{};  ///< why the latest records were rejected
};

class Pipe {
 public:
  /// `held` (a lock on the sink) is let go of when the exporter is gone, and not before.
  Pipe(std::unique_ptr<Exporter> exporter, const PipeOptions& options, std::shared_ptr<void> held = {});
  /// finish(0).
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void offer(const Update& update);
  /// Sends what waits, retrying until `timeout_ns` has passed; then nothing is sent any more. False when something was
  /// left over. A sink that is to be left alone for longer than that gets its last call a little early. A call that
  /// hangs is cancelled shortly before the end; a sink that cannot be is left behind with its thread.
  bool finish(int64_t timeout_ns);

  [[nodiscard]] PipeCounters counters() const;
  /// The same for whoever asks from another thread: it may outlive the pipe.
  [[nodiscard]] std::function<PipeCounters()> counters_reader() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state);
  static PipeCounters read(State& state);

  std::string name_;
  std::shared_ptr<State> state_;
};

}  // namespace goodput::exporters
