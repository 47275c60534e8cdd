// The accounting engine: events in, accounted time out.
//
// Incremental: what the log settled is kept as totals of at most 512 stretches, and only the latest thousand events or
// so are read again for an answer. Pure: no clock, file or thread; it asks for the time (`now_ns`), and reads back what
// it needs through an event::Source. The same events with the same positions give the same answers, in whatever order
// and batches they arrive and wherever the ledger was resumed. docs/semantics.md is the contract of every number.
//
//   Ledger ledger({}, source);
//   ledger.push(events);                                  // the source must have them already
//   Result<Overview> overview = ledger.overview(now_ns);
//   Result<AccountedSpan> hour = ledger.account(now_ns, {.from_ns = now_ns - 3600 * kNanosecondsPerSecond});
//
// Errors are the source's, or kNotFound for a job without events. One thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "event/event.h"
#include "event/source.h"
#include "ledger/answers.h"
#include "ledger/options.h"

namespace goodput::ledger {

class Ledger {
 public:
  /// `source` must outlive the ledger and hold every event before it is pushed.
  Ledger(const Options& options, event::Source& source);
  ~Ledger();
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;

  /// Takes events in any order; each once (a redelivery with equal fingerprint counts once whatever its position).
  void push(std::span<const event::Event> events);

  /// The job as a whole, as of `now_ns`.
  Result<Overview> overview(int64_t now_ns);

  /// The partition over a part of the job. Reads back the stretches that hold its edges, each once.
  Result<AccountedSpan> account(int64_t now_ns, const Span& span);

  /// The job's time in equal buckets, for a picture: exact for short jobs, of long ones each stretch is spread evenly.
  Result<std::vector<Totals>> timeline(int64_t now_ns, size_t buckets);

  /// Ideal step time, deviation, percentiles; empty without a completed step.
  Result<std::optional<StepFigures>> step_figures(int64_t now_ns);

  /// The latest 1,000, oldest first; `index` counts all.
  Result<std::vector<AttemptAnswer>> attempts(int64_t now_ns);
  Result<std::vector<DisruptionAnswer>> disruptions(int64_t now_ns);

  /// Step times by first step number, of intervals not wholly wasted, in step order: all that end after `from_ns`, and
  /// perhaps some before. Reads the job back from there on.
  Status step_times(int64_t now_ns, int64_t from_ns, FunctionRef<void(int64_t step, const StepTime& time)> visit);

  /// The name of a custom event in Totals::custom_ns.
  [[nodiscard]] std::string_view custom_name(uint16_t index) const;

  /// What the source holds of earlier times is settled: it is read again for the edges of windows and after a rollback
  /// into it, and may be dropped once a snapshot is safe. The minimum while nothing is.
  [[nodiscard]] int64_t settled_before_ns() const;

  /// Everything settled, to be resumed over the same source. Versioned; only resume() reads it.
  [[nodiscard]] std::string snapshot();
  /// kUnsupported when the snapshot is of another version or damaged, or of other options: start from nothing then.
  static Result<Ledger> resume(std::string_view snapshot, const Options& options, event::Source& source);

 private:
  class Engine;
  explicit Ledger(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace goodput::ledger
