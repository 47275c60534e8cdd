// SPDX-License-Identifier: Apache-2.0
#include "goodput/recorder.h"

#include <cmath>
#include <exception>
#include <new>
#include <utility>

#include "event/event.h"
#include "record/live_journal.h"

namespace goodput {
namespace {

using event::Kind;
using journal::Counter;
using journal::LiveEvent;
using record::LiveJournal;
using record::Writer;

/// A number that took longer to read came from a device.
constexpr int64_t kSlowStepNumberNs = 1'000'000;

constexpr Kind start_kind(Event event) { return static_cast<Kind>(event); }
constexpr Kind end_kind(Event event) { return static_cast<Kind>(static_cast<int>(event) + 1); }
static_assert(start_kind(Event::kJob) == Kind::kJobStart && end_kind(Event::kJob) == Kind::kJobEnd);
static_assert(start_kind(Event::kStep) == Kind::kStepStart && end_kind(Event::kStep) == Kind::kStepEnd);
static_assert(start_kind(Event::kAcceleratorInit) == Kind::kAcceleratorInitStart);
static_assert(start_kind(Event::kTrainingPrep) == Kind::kTrainingPrepStart);
static_assert(start_kind(Event::kDataLoading) == Kind::kDataLoadingStart);
static_assert(start_kind(Event::kCheckpointSave) == Kind::kCheckpointSaveStart);
static_assert(start_kind(Event::kCheckpointRestore) == Kind::kCheckpointRestoreStart);
static_assert(start_kind(Event::kCustom) == Kind::kCustomStart);
static_assert(start_kind(Event::kCompilation) == Kind::kCompilationStart);
static_assert(start_kind(Event::kElasticWait) == Kind::kElasticWaitStart);
static_assert(start_kind(Event::kElasticReinit) == Kind::kElasticReinitStart);

constexpr bool is_step_number(int64_t step) { return step >= -event::kMaxStep && step <= event::kMaxStep; }
constexpr bool is_checkpoint(Event event) {
  return event == Event::kCheckpointSave || event == Event::kCheckpointRestore;
}

void drop(Writer& writer) {
  if (!writer.is_ours()) return;
  const record::Pin pin(writer);
  writer.count(Counter::kBadValue);
}

/// Fills in an explicit time. False when no report could use it.
bool put_time(LiveEvent& live, int64_t time_ns) {
  if (time_ns == kNow) return true;
  live.has_wall_time = true;
  live.wall_ns = time_ns;
  return time_ns >= 0 && time_ns <= event::kMaxTimeNs;
}

bool put_step(LiveEvent& live, const std::optional<int64_t>& step) {
  if (!step) return true;
  live.value = *step;
  return is_step_number(*step);
}

/// What the start or end of an interval carries. False for a value that no report could use.
bool fill(Writer& writer, Event event, const Detail& detail, bool is_start, LiveEvent& live) {
  live.kind = is_start ? start_kind(event) : end_kind(event);
  if (event == Event::kStep && !detail.step) return false;
  if (event == Event::kStep || is_checkpoint(event)) {
    if (!put_step(live, detail.step)) return false;
    if (is_checkpoint(event) && detail.step) live.flags |= event::kHasStep;
  }
  if (event == Event::kDataLoading && is_start && detail.blocking) live.flags |= event::kBlocking;
  if (event == Event::kJob && !is_start && detail.failed) live.flags |= event::kFailed;
  if (event == Event::kCustom || event == Event::kElasticWait) {
    const std::string_view name = event == Event::kElasticWait && detail.name.empty() ? "unknown" : detail.name;
    if (name.empty()) return false;
    live.name = writer.name_id(name);
  } else if (is_checkpoint(event)) {
    live.name = writer.name_id(detail.location);
  }
  if (event == Event::kStep && is_start) {
    // Work that is not finite says nothing; the step stands.
    const auto finite = [](double x) { return std::isfinite(x) ? x : std::numeric_limits<double>::quiet_NaN(); };
    live.tokens = finite(detail.work.tokens);
    live.samples = finite(detail.work.samples);
    live.flops = finite(detail.work.flops);
  }
  return put_time(live, detail.time_ns);
}

void record_end(Writer& writer, Event event, const Detail& detail, bool is_start) {
  LiveEvent live;
  if (fill(writer, event, detail, is_start, live)) {
    writer.record(live);
  } else {
    drop(writer);
  }
}

}  // namespace

Recorder Recorder::open(const RecorderOptions& options) noexcept {
  Recorder recorder;
  recorder.journal_ = LiveJournal::acquire(options);
  return recorder;
}

Recorder::Recorder(Recorder&& other) noexcept
    : journal_(std::exchange(other.journal_, nullptr)), is_closed_(std::exchange(other.is_closed_, false)) {}

Recorder& Recorder::operator=(Recorder&& other) noexcept {
  if (this != &other) {
    this->~Recorder();
    new (this) Recorder(std::move(other));
  }
  return *this;
}

Recorder::~Recorder() {
  if (journal_ == nullptr) return;
  close();
  LiveJournal::release(std::exchange(journal_, nullptr));
}

void Recorder::close() noexcept {
  if (journal_ == nullptr || std::exchange(is_closed_, true)) return;
  journal_->close();
}

void Recorder::record_step(int64_t step) noexcept {
  if (is_step_number(step)) [[likely]] {
    journal_->writer().record_plain(Kind::kStepStart, 0, static_cast<uint64_t>(step));
  } else {
    drop(journal_->writer());
  }
}

void Recorder::step(int64_t step, const StepWork& work) noexcept { begin(Event::kStep, {.step = step, .work = work}); }

Scope Recorder::step_scope(int64_t step, const StepWork& work) noexcept {
  return scope(Event::kStep, {.step = step, .work = work});
}

void Recorder::step_since(int64_t clock_ns, int64_t step, const StepWork& work) noexcept {
  if (journal_ == nullptr) return;
  Writer& writer = journal_->writer();
  LiveEvent live;
  if (!fill(writer, Event::kStep, {.step = step, .work = work}, true, live)) return drop(writer);
  live.boot_ns = clock_ns;
  writer.record(live);
  if (writer.now_ns() - clock_ns > kSlowStepNumberNs && writer.is_ours()) {
    const record::Pin pin(writer);
    writer.count(Counter::kSlowStepNumber);
  }
}

int64_t Recorder::clock_ns() const noexcept { return journal_ == nullptr ? 0 : journal_->writer().now_ns(); }

Scope Recorder::scope(Event event, const Detail& detail) noexcept {
  if (journal_ == nullptr) return Scope(nullptr, event, 0, journal::kNoName, false);
  Writer& writer = journal_->writer();
  LiveEvent live;
  if (!fill(writer, event, detail, true, live)) {
    drop(writer);
    return Scope(nullptr, event, 0, journal::kNoName, false);
  }
  // What needs one slot takes the short way.
  const bool is_plain = live.name == journal::kNoName && !live.has_wall_time && !live.has_work();
  if (is_plain) {
    writer.record_plain(live.kind, live.flags, static_cast<uint64_t>(live.value));
  } else {
    writer.record(live);
  }
  return Scope(journal_, event, live.value, live.name, detail.step.has_value());
}

Scope Recorder::checkpoint_save(int64_t step, std::string_view location) noexcept {
  return scope(Event::kCheckpointSave, {.location = location, .step = step});
}
Scope Recorder::checkpoint_restore(int64_t step, std::string_view location) noexcept {
  return scope(Event::kCheckpointRestore, {.location = location, .step = step});
}

void Recorder::begin(Event event, const Detail& detail) noexcept {
  if (journal_ != nullptr) record_end(journal_->writer(), event, detail, true);
}
void Recorder::end(Event event, const Detail& detail) noexcept {
  if (journal_ != nullptr) record_end(journal_->writer(), event, detail, false);
}

void Recorder::checkpoint_statistics(const CheckpointStatistics& statistics) noexcept {
  if (journal_ == nullptr) return;
  Writer& writer = journal_->writer();
  LiveEvent live;
  live.kind = statistics.event == Event::kCheckpointRestore ? Kind::kCheckpointRestore : Kind::kCheckpointSave;
  live.duration_ns = statistics.duration_ns;
  if (statistics.start_ns == kNow) live.flags |= event::kUntimed;
  if (statistics.emergency) live.flags |= event::kEmergency;
  if (statistics.step) live.flags |= event::kHasStep;
  const bool is_duration = statistics.duration_ns >= 0 && statistics.duration_ns <= event::kMaxDurationNs;
  if (!is_checkpoint(statistics.event) || !is_duration || !put_step(live, statistics.step) ||
      !put_time(live, statistics.start_ns)) {
    return drop(writer);
  }
  live.name = writer.name_id(statistics.location);
  writer.record(live);
}

void Recorder::slice_counts(int64_t active, int64_t total, int64_t available, int64_t time_ns) noexcept {
  if (journal_ == nullptr) return;
  LiveEvent live;
  live.kind = Kind::kSliceCounts;
  live.value = journal::pack_slices({active, total, available});
  if (active < 0 || total < 0 || available < 0 || !put_time(live, time_ns)) return drop(journal_->writer());
  journal_->writer().record(live);
}

void Recorder::disruption(std::string_view cause, std::string_view text, int64_t time_ns) noexcept {
  if (journal_ == nullptr) return;
  Writer& writer = journal_->writer();
  LiveEvent live;
  live.kind = Kind::kDisruption;
  live.name = writer.name_id(cause.empty() ? "unknown" : cause);
  live.value = writer.name_id(text);
  if (!put_time(live, time_ns)) return drop(writer);
  writer.record(live);
}

void Recorder::heartbeat(int64_t time_ns) noexcept {
  if (journal_ == nullptr) return;
  LiveEvent live;
  live.kind = Kind::kHeartbeat;
  if (!put_time(live, time_ns)) return drop(journal_->writer());
  journal_->writer().record(live);
}

void Recorder::process_exit(const ProcessExit& exit, int64_t time_ns) noexcept {
  if (journal_ == nullptr) return;
  LiveEvent live;
  live.kind = Kind::kProcessExit;
  if (exit.signal) {
    live.flags = event::kSignal;
    live.value = *exit.signal;
  } else if (exit.code) {
    live.flags = event::kCode;
    live.value = *exit.code;
  }
  if (!put_time(live, time_ns)) return drop(journal_->writer());
  journal_->writer().record(live);
}

void Recorder::drop_bad_value() noexcept {
  if (journal_ != nullptr) drop(journal_->writer());
}

bool Recorder::is_recording() const noexcept {
  return journal_ != nullptr && journal_->writer().is_ours() && journal_->writer().chain().current() != nullptr &&
         journal_->writer().chain().failure() == 0;
}

RecorderCounts Recorder::counts() const noexcept {
  if (journal_ == nullptr) return {};
  const journal::CounterValues values = journal_->writer().counts();
  return {.lost_events = values.lost_events(),
          .lost_no_space = values[Counter::kNoSpace],
          .lost_no_access = values[Counter::kNoAccess],
          .lost_bad_value = values[Counter::kBadValue],
          .prepared_by_caller = values[Counter::kPreparedByCaller]};
}

std::string Recorder::job() const { return journal_ == nullptr ? "" : journal_->identity().job; }
std::string Recorder::attempt_id() const { return journal_ == nullptr ? "" : journal_->identity().attempt_id; }
std::string Recorder::directory() const { return journal_ == nullptr ? "" : journal_->root(); }
std::string Recorder::journal_id() const { return journal_ == nullptr ? "" : journal_->id(); }

Scope::Scope(LiveJournal* journal, Event event, int64_t step, uint16_t name, bool has_step) noexcept
    : journal_(journal),
      step_(step),
      exceptions_(event == Event::kJob ? std::uncaught_exceptions() : 0),
      name_(name),
      event_(event),
      has_step_(has_step) {}

Scope::Scope(Scope&& other) noexcept
    : journal_(std::exchange(other.journal_, nullptr)),
      step_(other.step_),
      exceptions_(other.exceptions_),
      name_(other.name_),
      event_(other.event_),
      has_step_(other.has_step_) {}

Scope::~Scope() { finish(event_ == Event::kJob && std::uncaught_exceptions() > exceptions_); }
void Scope::end() noexcept { finish(false); }
void Scope::fail() noexcept { finish(true); }

void Scope::finish(bool failed) noexcept {
  if (journal_ == nullptr) return;
  Writer& writer = std::exchange(journal_, nullptr)->writer();
  uint8_t flags = failed && event_ == Event::kJob ? event::kFailed : 0;
  if (is_checkpoint(event_) && has_step_) flags |= event::kHasStep;
  if (name_ == journal::kNoName) {
    writer.record_plain(end_kind(event_), flags, static_cast<uint64_t>(step_));
    return;
  }
  LiveEvent live;
  live.kind = end_kind(event_);
  live.flags = flags;
  live.name = name_;
  live.value = step_;
  writer.record(live);
}

}  // namespace goodput
