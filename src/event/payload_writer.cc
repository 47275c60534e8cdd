// SPDX-License-Identifier: Apache-2.0
#include "event/payload_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/decimal.h"
#include "base/status.h"
#include "event/json_text.h"
#include "event/kind_names.h"
#include "event/payload_keys.h"

namespace goodput::event {
namespace {

/// The key that holds the time of each kind.
constexpr std::array<Key, kKinds> kTimeKeyOfKind = [] {
  std::array<Key, kKinds> keys{};
  for (size_t i = 0; i < kTimeKeys; ++i) keys[static_cast<size_t>(kTimeKinds[i])] = static_cast<Key>(i);
  keys[static_cast<size_t>(Kind::kCheckpointSave)] = Key::kSaveStartTime;
  keys[static_cast<size_t>(Kind::kCheckpointRestore)] = Key::kRestoreStartTime;
  return keys;
}();

/// Writes the fields of one object.
class Fields {
 public:
  explicit Fields(std::string& out) : out_(out) {}

  void name(Key key) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += kKeyNames[index_of(key)];
    out_ += "\":";
  }
  void literal(Key key, std::string_view json) {
    name(key);
    out_ += json;
  }
  void text(Key key, std::string_view value) {
    name(key);
    append_quoted(out_, value);
  }
  void text_if_any(Key key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }
  void seconds(Key key, int64_t ns) {
    name(key);
    append_seconds(out_, ns);
  }
  void integer(Key key, int64_t value) {
    name(key);
    append_number(out_, value);
  }
  void work_if_told(Key key, double value) {
    if (std::isnan(value)) return;
    name(key);
    append_number(out_, value);
  }

 private:
  std::string& out_;
};

/// Orbax-style statistics: the entry has an event_type, and perhaps no time of its own.
void write_statistics(Fields& out, const Event& e) {
  const bool save = e.kind == Kind::kCheckpointSave;
  out.text(Key::kEventType, save ? "save" : e.has(kEmergency) ? "emergency_restore" : "restore");
  const Key start = kTimeKeyOfKind[static_cast<size_t>(e.kind)];
  e.has(kUntimed) ? out.literal(start, "null") : out.seconds(start, e.time_ns);
  out.seconds(save ? Key::kSaveDuration : Key::kRestoreDuration, e.duration_ns);
}

void write_checkpoint_particulars(Fields& out, const Event& e) {
  if (e.has(kHasStep)) out.integer(Key::kStep, e.step);
  if (e.detail != nullptr) out.text_if_any(Key::kDirectory, e.detail->location);
}

void write_exit(Fields& out, const Event& e) {
  if (e.has(kSignal)) out.integer(Key::kExitSignal, e.exit_value);
  if (e.has(kCode)) out.integer(Key::kExitCode, e.exit_value);
}

void write_slice_counts(Fields& out, const Event& e) {
  const Detail& counts = e.detail != nullptr ? *e.detail : Detail{};
  out.integer(Key::kActiveSlices, counts.active_slices);
  out.integer(Key::kTotalSlices, counts.total_slices);
  out.integer(Key::kAvailableSlices, counts.available_slices);
}

/// What a kind carries beside its time.
void write_particulars(Fields& out, const Event& e) {
  switch (e.kind) {
    case Kind::kJobEnd:
      if (e.has(kFailed)) out.literal(Key::kJobEndFailed, "true");
      return;
    case Kind::kStepStart:
    case Kind::kStepEnd:
      if (e.detail == nullptr) return;
      out.work_if_told(Key::kTokens, e.detail->tokens);
      out.work_if_told(Key::kSamples, e.detail->samples);
      out.work_if_told(Key::kFlops, e.detail->flops);
      return;
    case Kind::kDataLoadingStart:
      if (e.has(kBlocking)) out.literal(Key::kBlocking, "true");
      return;
    case Kind::kSliceCounts:
      return write_slice_counts(out, e);
    case Kind::kProcessExit:
      return write_exit(out, e);
    case Kind::kDisruption:
      if (e.detail == nullptr) return;
      out.text_if_any(Key::kDisruptionCause, e.detail->cause);
      out.text_if_any(Key::kDisruptionDetail, e.detail->text);
      return;
    case Kind::kCheckpointSave:
    case Kind::kCheckpointRestore:
    case Kind::kCheckpointSaveStart:
    case Kind::kCheckpointSaveEnd:
    case Kind::kCheckpointRestoreStart:
    case Kind::kCheckpointRestoreEnd:
      return write_checkpoint_particulars(out, e);
    default:
      return;
  }
}

/// What the incumbent writes before the time.
void write_head(Fields& out, const Event& e) {
  switch (e.kind) {
    case Kind::kStepStart:
    case Kind::kStepEnd:
      return out.integer(Key::kStepCount, e.step);
    case Kind::kCustomStart:
    case Kind::kCustomEnd:
      return out.text(Key::kCustomType, e.name);
    case Kind::kElasticWaitStart:
    case Kind::kElasticWaitEnd:
      return out.text(Key::kElasticWaitType, e.name);
    default:
      return;
  }
}

/// Equal for equal origins only, as far as payloads tell of them: every text goes behind its length.
void append_key(std::string& out, const Origin& origin) {
  const auto number = [&](int64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  number(origin.process_index);
  number(origin.pid);
  for (const std::string_view text : {origin.attempt_id, origin.run_id, origin.role, origin.host}) {
    number(static_cast<int64_t>(text.size()));
    out += text;
  }
}

template <typename Number>
void append_shortest(std::string& out, Number value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

PayloadWriter::PayloadWriter(std::string_view job, PayloadOptions options) : opening_("{"), options_(options) {
  if (!job.empty()) Fields(opening_).text(Key::kJobName, job);
}

void PayloadWriter::append(std::string& out, const Event& event) {
  CHECK(event.kind != Kind::kNone);
  out += opening_;
  Fields fields(out);
  const bool statistics = event.kind == Kind::kCheckpointSave || event.kind == Kind::kCheckpointRestore;
  if (statistics) {
    write_statistics(fields, event);
  } else {
    write_head(fields, event);
    fields.seconds(kTimeKeyOfKind[static_cast<size_t>(event.kind)], event.time_ns);
  }
  write_particulars(fields, event);
  if (event.origin != nullptr) {
    set_origin(*event.origin);
    out += origin_fields_;
  }
  if (options_.with_position) {
    fields.name(Key::kSequence);
    out += '"';
    append_position(out, event.position);
    out += '"';
  }
  out += '}';
}

/// An origin is told by at least its process index: without any key there is none.
void PayloadWriter::set_origin(const Origin& origin) {
  scratch_.clear();
  append_key(scratch_, origin);
  if (scratch_ == origin_key_) return;
  origin_key_ = scratch_;
  origin_fields_.assign(1, ' ');  // no brace: every field begins with a comma
  Fields fields(origin_fields_);
  fields.text_if_any(Key::kAttemptId, origin.attempt_id);
  fields.text_if_any(Key::kRunId, origin.run_id);
  fields.integer(Key::kProcessIndex, origin.process_index);
  fields.text_if_any(Key::kRole, origin.role);
  fields.text_if_any(Key::kHost, origin.host);
  if (origin.pid != 0) fields.integer(Key::kPid, origin.pid);
  origin_fields_.erase(0, 1);
}

void append_position(std::string& out, const Position& position) {
  append_shortest(out, position.major);
  out += '-';
  append_shortest(out, position.minor);
}

void append_number(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value < 0 ? "-1e999" : "1e999";
  } else {
    append_shortest(out, value);
  }
}

void append_number(std::string& out, int64_t value) { append_shortest(out, value); }

}  // namespace goodput::event
