// SPDX-License-Identifier: Apache-2.0
#include "event/export/trace_export.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "event/export/trace_json.h"

namespace goodput::event {
namespace {

/// Open at once in one process; one more start ends the earliest, as in the accounting.
constexpr size_t kMaxOpen = 4096;

/// What the tracks of a process are about. In the order of Kind, of which only starts and statistics have one.
std::string_view label_of(Kind kind) {
  switch (kind) {
    case Kind::kAcceleratorInitStart:
      return "accelerator init";
    case Kind::kTrainingPrepStart:
      return "training prep";
    case Kind::kDataLoadingStart:
      return "data loading";
    case Kind::kCheckpointSaveStart:
    case Kind::kCheckpointSave:
      return "checkpoint save";
    case Kind::kCheckpointRestoreStart:
    case Kind::kCheckpointRestore:
      return "checkpoint restore";
    case Kind::kCustomStart:
      return "custom events";
    case Kind::kCompilationStart:
      return "compilation";
    case Kind::kElasticWaitStart:
      return "elastic wait";
    case Kind::kElasticReinitStart:
      return "elastic re-initialisation";
    case Kind::kHeartbeat:
      return "heartbeats";
    default:
      return "attempt";
  }
}

/// What a slice is called: the user's name where there is one.
std::string_view slice_name(Kind start, std::string_view name) { return name.empty() ? label_of(start) : name; }

struct Track {
  std::string_view label;
  TraceTrack at;
  int64_t free_ns = 0;
  bool busy = false;
};

struct OpenEvent {
  Kind kind = Kind::kNone;
  std::string name;
  int64_t start_ns = 0;
  size_t track = 0;
  TraceArgs args;
};

struct OpenStep {
  int64_t step = 0;
  int64_t start_ns = 0;
  std::optional<int64_t> host_end_ns;
  TraceArgs args;
};

/// One rank of one attempt.
struct Process {
  std::string name;
  TraceTrack attempt_track;
  TraceTrack step_track;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  bool has_job_start = false;
  bool has_steps = false;
  std::optional<OpenStep> step;
  std::vector<OpenEvent> open;
  std::vector<Track> tracks;
};

/// Equal for equal processes of a log.
void append_key(std::string& key, const Origin& origin) {
  for (const std::string_view text : {origin.attempt_id, origin.run_id, origin.role, origin.host}) {
    key += std::to_string(text.size());
    key += ' ';
    key += text;
  }
  key += std::to_string(origin.process_index);
  key += ' ';
  key += std::to_string(origin.pid);
}

}  // namespace

class TraceExport::Writer {
 public:
  explicit Writer(std::string_view job) : job_(job) {}

  void begin(std::string& out) { json_.start(out); }
  void append(const Event& event, std::string& out);
  void finish(std::string& out);

 private:
  Process& process_of(const Event& event, std::string& out);
  Process& new_process(const Event& event, size_t attempt, std::string& out);
  size_t attempt_number(const Origin* origin, size_t starts);
  void end_process(Process& process, std::string& out);
  TraceTrack new_track(Process& process, std::string_view name, std::string& out);
  size_t free_track(Process& process, std::string_view label, int64_t ns, std::string& out);

  void take_step(Process& process, const Event& event, int64_t ns, std::string& out);
  void end_step(Process& process, int64_t ns, std::string& out);
  void take_start(Process& process, const Event& event, int64_t ns, std::string& out);
  void take_end(Process& process, const Event& event, int64_t ns, std::string& out);
  void close_event(Process& process, size_t index, int64_t ns, std::string& out);
  void take_statistics(Process& process, const Event& event, int64_t ns, std::string& out);
  void take_instant(Process& process, const Event& event, int64_t ns, std::string& out);

  /// The latest process of a log's identity, and how many job starts it has had.
  struct Identity {
    Process* process = nullptr;
    size_t starts = 0;
  };

  std::string job_;
  TraceJson json_;
  std::optional<int64_t> start_ns_;
  int64_t now_ns_ = 0;  // since the start
  uint32_t ids_ = 0;    // processes and tracks given out: one row of numbers, so that none is taken for another
  std::deque<Process> processes_;
  std::unordered_map<std::string, Identity> identities_;
  std::unordered_map<std::string, size_t> attempts_;
  std::string key_;
  std::string latest_key_;
  Identity* latest_ = nullptr;
};

void TraceExport::Writer::append(const Event& event, std::string& out) {
  if (!start_ns_) {
    if (event.has(kUntimed)) return;  // it stands nowhere
    start_ns_ = event.time_ns;
  }
  if (!event.has(kUntimed)) now_ns_ = std::max(now_ns_, event.time_ns - *start_ns_);
  Process& process = process_of(event, out);
  const int64_t ns = now_ns_;
  process.last_ns = std::max(process.last_ns, ns);
  if (event.kind == Kind::kStepStart || event.kind == Kind::kStepEnd) {
    take_step(process, event, ns, out);
  } else if (is_start(event.kind)) {
    take_start(process, event, ns, out);
  } else if (is_end(event.kind)) {
    take_end(process, event, ns, out);
  } else if (event.kind == Kind::kCheckpointSave || event.kind == Kind::kCheckpointRestore) {
    take_statistics(process, event, ns, out);
  } else {
    take_instant(process, event, ns, out);
  }
}

void TraceExport::Writer::finish(std::string& out) {
  for (Process& process : processes_) end_process(process, out);
  json_.finish(out, job_, start_ns_.value_or(0));
}

/// By identity; where that holds no attempt id, every job start begins another, but for one that follows nothing but
/// other entries of a start.
Process& TraceExport::Writer::process_of(const Event& event, std::string& out) {
  key_.clear();
  if (event.origin != nullptr) append_key(key_, *event.origin);
  if (latest_ == nullptr || key_ != latest_key_) {
    latest_ = &identities_[key_];
    latest_key_ = key_;
  }
  Identity& identity = *latest_;
  const bool told = event.origin != nullptr && !event.origin->attempt_id.empty();
  const bool begins = event.kind == Kind::kJobStart && !told && identity.process != nullptr &&
                      (identity.process->has_job_start || identity.process->has_steps);
  if (begins) {
    ++identity.starts;
    end_process(*identity.process, out);
  }
  if (begins || identity.process == nullptr) {
    identity.process = &new_process(event, attempt_number(event.origin, identity.starts), out);
  }
  if (event.kind == Kind::kJobStart) identity.process->has_job_start = true;
  return *identity.process;
}

size_t TraceExport::Writer::attempt_number(const Origin* origin, size_t starts) {
  if (origin == nullptr || origin->attempt_id.empty()) return starts;
  return attempts_.try_emplace(std::string(origin->attempt_id), attempts_.size()).first->second;
}

Process& TraceExport::Writer::new_process(const Event& event, size_t attempt, std::string& out) {
  Process& process = processes_.emplace_back();
  process.attempt_track.process = ++ids_;
  process.first_ns = process.last_ns = now_ns_;
  process.name = "attempt " + std::to_string(attempt);
  std::string shown = process.name;
  if (event.origin != nullptr) {
    const Origin& origin = *event.origin;
    shown += origin.role.empty() ? ", rank " + std::to_string(origin.process_index) : ", " + std::string(origin.role);
    if (!origin.host.empty()) shown += " on " + std::string(origin.host);
  }
  json_.name_process(out, process.attempt_track, shown);
  process.attempt_track = new_track(process, "attempt", out);
  process.step_track = new_track(process, "steps", out);
  return process;
}

TraceTrack TraceExport::Writer::new_track(Process& process, std::string_view name, std::string& out) {
  const TraceTrack track{process.attempt_track.process, ++ids_};
  json_.name_track(out, track, name);
  return track;
}

/// The first track with a label on which nothing is at the time; made when there is none.
size_t TraceExport::Writer::free_track(Process& process, std::string_view label, int64_t ns, std::string& out) {
  size_t of_this_label = 0;
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    const Track& track = process.tracks[i];
    if (track.label != label) continue;
    if (!track.busy && track.free_ns <= ns) return i;
    ++of_this_label;
  }
  std::string name(label);
  if (of_this_label > 0) name += ' ' + std::to_string(of_this_label + 1);
  process.tracks.push_back({.label = label, .at = new_track(process, name, out)});
  return process.tracks.size() - 1;
}

void TraceExport::Writer::take_step(Process& process, const Event& event, int64_t ns, std::string& out) {
  process.has_steps = true;
  if (event.kind == Kind::kStepEnd) {
    if (process.step && process.step->step == event.step && !process.step->host_end_ns) process.step->host_end_ns = ns;
    return;
  }
  end_step(process, ns, out);
  OpenStep& step = process.step.emplace(OpenStep{.step = event.step, .start_ns = ns, .host_end_ns = {}, .args = {}});
  step.args.integer("step", event.step);
  if (event.detail == nullptr) return;
  const Detail& work = *event.detail;
  step.args.number("tokens", work.tokens).number("samples", work.samples).number("flops", work.flops);
  json_.counter(out, process.attempt_track, "work of a step", ns, TraceArgs().number("tokens", work.tokens));
}

/// A step lasts until the next begins: the host-side end comes too early where work is dispatched.
void TraceExport::Writer::end_step(Process& process, int64_t ns, std::string& out) {
  if (!process.step) return;
  OpenStep& step = *process.step;
  if (step.host_end_ns) step.args.integer("host_side_us", (*step.host_end_ns - step.start_ns) / 1000);
  json_.slice(out, process.step_track, "step " + std::to_string(step.step), step.start_ns, ns, step.args);
  json_.counter(out, process.attempt_track, "step time", step.start_ns,
                TraceArgs().number("seconds", static_cast<double>(ns - step.start_ns) / 1e9));
  process.step.reset();
}

void TraceExport::Writer::take_start(Process& process, const Event& event, int64_t ns, std::string& out) {
  if (process.open.size() == kMaxOpen) {
    process.open.front().args.mark("unfinished");
    close_event(process, 0, ns, out);
  }
  OpenEvent& open = process.open.emplace_back(
      OpenEvent{.kind = event.kind, .name = std::string(event.name), .start_ns = ns, .track = 0, .args = {}});
  open.track = free_track(process, label_of(event.kind), ns, out);
  process.tracks[open.track].busy = true;
  if (event.has(kBlocking)) open.args.mark("blocking");
  if (event.has(kHasStep)) open.args.integer("step", event.step);
  if (event.detail != nullptr && !event.detail->location.empty()) open.args.text("directory", event.detail->location);
}

/// Ends the latest start of the same kind and name.
void TraceExport::Writer::take_end(Process& process, const Event& event, int64_t ns, std::string& out) {
  const Kind kind = start_of(event.kind);
  const auto same = [&](const OpenEvent& open) { return open.kind == kind && open.name == event.name; };
  const auto found = std::find_if(process.open.rbegin(), process.open.rend(), same);
  if (found != process.open.rend()) {
    close_event(process, static_cast<size_t>(process.open.rend() - found) - 1, ns, out);
    return;
  }
  const size_t track = free_track(process, label_of(kind), ns, out);
  json_.instant(out, process.tracks[track].at, std::string(slice_name(kind, event.name)) + ", end without a start", ns);
}

void TraceExport::Writer::close_event(Process& process, size_t index, int64_t ns, std::string& out) {
  const OpenEvent& open = process.open[index];
  Track& track = process.tracks[open.track];
  json_.slice(out, track.at, slice_name(open.kind, open.name), open.start_ns, ns, open.args);
  track.busy = false;
  track.free_ns = ns;
  process.open.erase(process.open.begin() + static_cast<ptrdiff_t>(index));
}

void TraceExport::Writer::take_statistics(Process& process, const Event& event, int64_t ns, std::string& out) {
  const size_t index = free_track(process, label_of(event.kind), ns, out);
  Track& track = process.tracks[index];
  TraceArgs args;
  if (event.has(kHasStep)) args.integer("step", event.step);
  if (event.detail != nullptr && !event.detail->location.empty()) args.text("directory", event.detail->location);
  if (event.has(kEmergency)) args.mark("emergency");
  if (event.has(kUntimed)) args.mark("start_unknown");
  track.free_ns = ns + event.duration_ns;
  process.last_ns = std::max(process.last_ns, track.free_ns);
  json_.slice(out, track.at, label_of(event.kind), ns, track.free_ns, args);
}

void TraceExport::Writer::take_instant(Process& process, const Event& event, int64_t ns, std::string& out) {
  const Detail detail = event.detail != nullptr ? *event.detail : Detail{};
  const TraceTrack at = process.attempt_track;
  switch (event.kind) {
    case Kind::kJobStart:
      return json_.instant(out, at, "job start", ns);
    case Kind::kJobEnd:
      return json_.instant(out, at, event.has(kFailed) ? "job end by an exception" : "job end", ns);
    case Kind::kProcessExit:
      return json_.instant(out, at,
                           event.has(kSignal) ? "killed by signal " + std::to_string(event.exit_value)
                           : event.has(kCode) ? "exit with code " + std::to_string(event.exit_value)
                                              : "exit",
                           ns);
    case Kind::kDisruption:
      return json_.instant(out, at, "disruption: " + std::string(detail.cause.empty() ? "unknown" : detail.cause), ns,
                           TraceArgs().text("detail", detail.text));
    case Kind::kSliceCounts:
      return json_.counter(out, at, "slices", ns,
                           TraceArgs()
                               .integer("active", detail.active_slices)
                               .integer("available", detail.available_slices)
                               .integer("total", detail.total_slices));
    default: {
      const size_t track = free_track(process, label_of(event.kind), ns, out);
      return json_.instant(out, process.tracks[track].at, "alive", ns);
    }
  }
}

/// Closes what is open at the last that is known of the process.
void TraceExport::Writer::end_process(Process& process, std::string& out) {
  if (process.name.empty()) return;
  if (process.step) {
    const bool ended = process.step->host_end_ns.has_value();
    if (!ended) process.step->args.mark("unfinished");
    end_step(process, ended ? *process.step->host_end_ns : process.last_ns, out);
  }
  while (!process.open.empty()) {
    process.open.back().args.mark("unfinished");
    close_event(process, process.open.size() - 1, process.last_ns, out);
  }
  json_.slice(out, process.attempt_track, process.name, process.first_ns, process.last_ns);
  process = {};
}

TraceExport::TraceExport(std::string_view job) : writer_(std::make_unique<Writer>(job)) {}
TraceExport::~TraceExport() = default;

void TraceExport::begin(std::string& out) { writer_->begin(out); }
void TraceExport::append(std::span<const Event> events, std::string& out) {
  for (const Event& event : events) writer_->append(event, out);
}
void TraceExport::finish(std::string& out) { writer_->finish(out); }

}  // namespace goodput::event
