// The recorder: what happens in a training process, kept so that no death of the process loses it.
//
// Use one Recorder per process (every rank may have one; rank 0 is the job's clock) and tell it of steps and of what
// stands between them. A step costs about a clock read and a 32-byte store; nothing waits, locks, allocates or throws.
//
//   auto recorder = goodput::Recorder::open({.job = "llama-7b", .process_index = rank});
//   auto job = recorder.scope(goodput::Event::kJob);
//   { auto init = recorder.scope(goodput::Event::kAcceleratorInit); init_devices(); }
//   recorder.step(step);
//
// Threads: every method from any thread, most also in signal handlers; open, close and destruction excepted. A forked
// child records nothing until it opens a recorder of its own. Failure: what cannot be recorded is counted, by cause,
// and the report says so; a recorder that cannot write says it once on stderr and goes on trying.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <goodput/export.h>
#include <goodput/recorder_types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace goodput {

namespace record {
class LiveJournal;
}

/// An interval that ends with it; by an exception, a job's end is marked failed. Must not outlive its Recorder.
class GOODPUT_API Scope {
 public:
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&&) = delete;
  ~Scope();

  void end() noexcept;   ///< now; later ends do nothing
  void fail() noexcept;  ///< the same, of a job that failed

 private:
  friend class Recorder;
  void finish(bool failed) noexcept;
  Scope(record::LiveJournal* journal, Event event, int64_t step, uint16_t name, bool has_step) noexcept;

  record::LiveJournal* journal_;
  int64_t step_;
  int exceptions_;
  uint16_t name_;
  Event event_;
  bool has_step_;
};

class GOODPUT_API Recorder {
 public:
  /// Never fails: a recorder that cannot write, or is not enabled, does nothing. Recorders of one (job, run, role,
  /// process index) in one process share one journal, made with the options of the first.
  static Recorder open(const RecorderOptions& options) noexcept;

  Recorder() noexcept = default;  ///< records nothing
  Recorder(Recorder&& other) noexcept;
  Recorder& operator=(Recorder&& other) noexcept;
  ~Recorder();  ///< closes

  /// The last recorder of a journal syncs and closes it, within two seconds; what other threads then record is dropped
  /// and counted.
  void close() noexcept;

  /// The step with this number begins.
  void step(int64_t step) noexcept {
    if (journal_ != nullptr) record_step(step);
  }
  void step(int64_t step, const StepWork& work) noexcept;
  /// A step whose host-side end is recorded too.
  [[nodiscard]] Scope step_scope(int64_t step, const StepWork& work = {}) noexcept;
  /// A step that began at an earlier reading of clock_ns(): reading its number took that long (over 1 ms is a finding).
  void step_since(int64_t clock_ns, int64_t step, const StepWork& work = {}) noexcept;
  [[nodiscard]] int64_t clock_ns() const noexcept;

  [[nodiscard]] Scope scope(Event event, const Detail& detail = {}) noexcept;
  [[nodiscard]] Scope data_loading(bool blocking) noexcept {
    return scope(Event::kDataLoading, {.blocking = blocking});
  }
  [[nodiscard]] Scope checkpoint_save(int64_t step, std::string_view location = {}) noexcept;
  [[nodiscard]] Scope checkpoint_restore(int64_t step, std::string_view location = {}) noexcept;
  [[nodiscard]] Scope custom(std::string_view name) noexcept { return scope(Event::kCustom, {.name = name}); }
  [[nodiscard]] Scope elastic_wait(std::string_view type) noexcept {
    return scope(Event::kElasticWait, {.name = type});
  }

  /// The two ends of an interval by themselves, also at times of their own.
  void begin(Event event, const Detail& detail = {}) noexcept;
  void end(Event event, const Detail& detail = {}) noexcept;

  void checkpoint_statistics(const CheckpointStatistics& statistics) noexcept;
  void slice_counts(int64_t active, int64_t total, int64_t available, int64_t time_ns = kNow) noexcept;
  /// cause: preempted oom signal exit hang host_lost planned manual unknown
  void disruption(std::string_view cause, std::string_view text = {}, int64_t time_ns = kNow) noexcept;
  void heartbeat(int64_t time_ns = kNow) noexcept;
  /// Of a launcher or monitor (RecorderOptions::role).
  void process_exit(const ProcessExit& exit, int64_t time_ns = kNow) noexcept;
  /// For bindings: an event that its caller could not make sense of is dropped, and counted so that the report shows
  /// it.
  void drop_bad_value() noexcept;

  [[nodiscard]] bool is_recording() const noexcept;  ///< a segment can be written at this moment
  [[nodiscard]] RecorderCounts counts() const noexcept;
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string attempt_id() const;  ///< empty: readers find the attempt
  [[nodiscard]] std::string directory() const;   ///< the folder under which all jobs are written
  [[nodiscard]] std::string journal_id() const;  ///< 32 hex digits

 private:
  void record_step(int64_t step) noexcept;

  record::LiveJournal* journal_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace goodput
