// SPDX-License-Identifier: Apache-2.0
#include "event/payload.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

namespace goodput::event {
namespace {

std::optional<int64_t> step_number(const FieldValue& value) {
  if (value.is_number()) return to_integer(value.number, kMaxStep);
  if (!value.is_text()) return std::nullopt;
  const std::optional<Decimal> number = parse_plain_number(value.text);
  return number ? to_integer(*number, kMaxStep) : std::nullopt;
}

std::optional<int64_t> nanoseconds(const FieldValue& value, int64_t most_ns) {
  return value.is_number() ? to_nanoseconds(value.number, most_ns) : std::nullopt;
}

/// An integer that is zero only where the number is: ranks other than 0 are told by "not zero", whatever they say.
int64_t index_number(const FieldValue& value) {
  if (!value.is_number() || value.number.is_zero()) return 0;
  return to_integer(value.number, kMaxStep).value_or(value.number.negative ? -1 : std::numeric_limits<int64_t>::max());
}

int64_t count_number(const FieldValue& value) {
  if (!value.is_number()) return 0;
  if (const std::optional<int64_t> integer = to_integer(value.number, kMaxStep)) return *integer;
  constexpr auto kMost = static_cast<double>(kMaxStep);
  return static_cast<int64_t>(std::clamp(to_double(value.number), -kMost, kMost));
}

double work_number(const FieldValue& value) {
  return value.is_number() ? to_double(value.number) : std::numeric_limits<double>::quiet_NaN();
}

/// A text, or nothing.
std::string_view text_of(const FieldValue& value) { return value.is_text() ? value.text : std::string_view(); }

}  // namespace

std::string_view words_for(Flaw flaw) {
  switch (flaw) {
    case Flaw::kNone:
      return "nothing is wrong with it";
    case Flaw::kNotAnObject:
      return "it is not a JSON object";
    case Flaw::kTooDeep:
      return "it is nested too deeply";
    case Flaw::kTime:
      return "its time is missing, not a number or out of range";
    case Flaw::kDuration:
      return "its duration is missing, not a number or out of range";
    case Flaw::kStep:
      return "its step number is missing, not an integer or out of range";
    case Flaw::kCustomType:
      return "it is a custom event without a type";
  }
  return "";
}

bool parse_position(std::string_view text, Position& position) {
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, position.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '-') return false;
  const auto minor = std::from_chars(major.ptr + 1, end, position.minor);
  return minor.ec == std::errc() && minor.ptr == end;
}

const Payload& PayloadReader::read(std::string_view json) {
  payload_ = Payload{};
  switch (fields_.read(json)) {
    case PayloadFields::Outcome::kObject:
      break;
    case PayloadFields::Outcome::kNotAnObject:
      payload_.flaw = Flaw::kNotAnObject;
      break;
    case PayloadFields::Outcome::kTooDeep:
      payload_.flaw = Flaw::kTooDeep;
      break;
  }
  if (payload_.flaw != Flaw::kNone) {
    payload_.verdict = Verdict::kMalformed;
    return payload_;
  }
  payload_.repaired = fields_.repaired();
  payload_.has_job = fields_.has(Key::kJobName);
  payload_.job_is_text = fields_[Key::kJobName].is_text();
  payload_.job = text_of(fields_[Key::kJobName]);
  classify();
  if (payload_.flaw != Flaw::kNone) payload_.verdict = Verdict::kMalformed;
  if (payload_.verdict == Verdict::kEvent) {
    take_particulars();
    take_origin();
    payload_.event.fingerprint = fields_.fingerprint();
  }
  return payload_;
}

void PayloadReader::classify() {
  const uint64_t times = fields_.present() & kAllTimeKeys;
  const bool type_decides = (times & kFirstTimeKeys) == 0;
  const std::string_view type = type_decides ? text_of(fields_[Key::kEventType]) : std::string_view();
  if (fields_[Key::kJsonPayload].type == ValueType::kObject) {
    payload_.verdict = Verdict::kEnvelope;
    return;
  }
  if (type == "save") {
    take_checkpoint(Key::kSaveStartTime, Key::kSaveDuration, Kind::kCheckpointSave, 0);
  } else if (type == "restore" || type == "emergency_restore") {
    take_checkpoint(Key::kRestoreStartTime, Key::kRestoreDuration, Kind::kCheckpointRestore,
                    type == "restore" ? 0 : kEmergency);
  } else if (times != 0) {
    take_time(static_cast<Key>(std::countr_zero(times)));
  } else if (fields_[Key::kMessage].type == ValueType::kObject ||
             (fields_[Key::kEnvelopeData].is_text() && fields_.has(Key::kMessageId))) {
    payload_.verdict = Verdict::kEnvelope;
  }
}

void PayloadReader::take_time(Key key) {
  Event& event = payload_.event;
  payload_.verdict = Verdict::kEvent;
  event.kind = kTimeKinds[index_of(key)];
  const std::optional<int64_t> time_ns = nanoseconds(fields_[key], kMaxTimeNs);
  const bool is_step = event.kind == Kind::kStepStart || event.kind == Kind::kStepEnd;
  const bool is_custom = event.kind == Kind::kCustomStart || event.kind == Kind::kCustomEnd;
  if (!time_ns) {
    payload_.flaw = Flaw::kTime;
  } else if (is_step && !take_step(Key::kStepCount)) {
    payload_.flaw = Flaw::kStep;
  } else if (is_custom && !fields_[Key::kCustomType].is_text()) {
    payload_.flaw = Flaw::kCustomType;
  } else {
    event.time_ns = *time_ns;
  }
}

void PayloadReader::take_checkpoint(Key start, Key duration, Kind kind, uint8_t flags) {
  Event& event = payload_.event;
  payload_.verdict = Verdict::kEvent;
  event.kind = kind;
  event.flags = flags;
  const std::optional<int64_t> duration_ns = nanoseconds(fields_[duration], kMaxDurationNs);
  if (!duration_ns) {
    payload_.flaw = Flaw::kDuration;
    return;
  }
  event.duration_ns = *duration_ns;
  if (fields_[start].type == ValueType::kNull) {
    event.flags |= kUntimed;
    return;
  }
  const std::optional<int64_t> time_ns = nanoseconds(fields_[start], kMaxTimeNs);
  if (!time_ns) payload_.flaw = Flaw::kTime;
  event.time_ns = time_ns.value_or(0);
}

bool PayloadReader::take_step(Key key) {
  const std::optional<int64_t> step = step_number(fields_[key]);
  payload_.event.step = step.value_or(0);
  return step.has_value();
}

void PayloadReader::take_particulars() {
  Event& event = payload_.event;
  Detail& detail = payload_.detail;
  switch (event.kind) {
    case Kind::kJobEnd:
      if (fields_[Key::kJobEndFailed].type == ValueType::kTrue) event.flags |= kFailed;
      return;
    case Kind::kStepStart:
    case Kind::kStepEnd:
      if (!fields_.has(Key::kTokens) && !fields_.has(Key::kSamples) && !fields_.has(Key::kFlops)) return;
      detail.tokens = work_number(fields_[Key::kTokens]);
      detail.samples = work_number(fields_[Key::kSamples]);
      detail.flops = work_number(fields_[Key::kFlops]);
      break;
    case Kind::kDataLoadingStart:
      if (fields_[Key::kBlocking].type == ValueType::kTrue) event.flags |= kBlocking;
      return;
    case Kind::kCheckpointSave:
    case Kind::kCheckpointRestore:
    case Kind::kCheckpointSaveStart:
    case Kind::kCheckpointSaveEnd:
    case Kind::kCheckpointRestoreStart:
    case Kind::kCheckpointRestoreEnd:
      if (take_step(Key::kStep)) event.flags |= kHasStep;
      detail.location = text_of(fields_[Key::kDirectory]);
      if (detail.location.empty()) return;
      break;
    case Kind::kCustomStart:
    case Kind::kCustomEnd:
      event.name = text_of(fields_[Key::kCustomType]);
      return;
    case Kind::kElasticWaitStart:
    case Kind::kElasticWaitEnd:
      event.name = fields_[Key::kElasticWaitType].is_text() ? fields_[Key::kElasticWaitType].text : "unknown";
      return;
    case Kind::kSliceCounts:
      detail.active_slices = count_number(fields_[Key::kActiveSlices]);
      detail.total_slices = count_number(fields_[Key::kTotalSlices]);
      detail.available_slices = count_number(fields_[Key::kAvailableSlices]);
      break;
    case Kind::kProcessExit:
      take_exit();
      return;
    case Kind::kDisruption:
      detail.cause = text_of(fields_[Key::kDisruptionCause]);
      detail.text = text_of(fields_[Key::kDisruptionDetail]);
      break;
    default:
      return;
  }
  event.detail = &detail;
}

void PayloadReader::take_exit() {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto integer = [&](Key key) {
    return fields_[key].is_number() ? to_integer(fields_[key].number, kMost) : std::nullopt;
  };
  const std::optional<int64_t> code = integer(Key::kExitCode);
  const std::optional<int64_t> signal = integer(Key::kExitSignal);
  Event& event = payload_.event;
  if (signal && code != 0) {  // a shell tells of a signal as code 128 + n too: the signal says more
    event.exit_value = static_cast<int32_t>(*signal);
    event.flags |= kSignal;
  } else if (code) {
    event.exit_value = static_cast<int32_t>(*code);
    event.flags |= kCode;
  }
}

void PayloadReader::take_origin() {
  const FieldValue& sequence = fields_[Key::kSequence];
  payload_.has_position = sequence.is_text() && parse_position(sequence.text, payload_.event.position);
  if (!payload_.has_position) payload_.event.position = {};
  constexpr Key kIdentity[] = {Key::kAttemptId, Key::kRunId, Key::kProcessIndex, Key::kRole, Key::kHost, Key::kPid};
  if (std::ranges::none_of(kIdentity, [&](Key key) { return fields_.has(key); })) return;
  Origin& origin = payload_.origin;
  origin.attempt_id = text_of(fields_[Key::kAttemptId]);
  origin.run_id = text_of(fields_[Key::kRunId]);
  origin.role = text_of(fields_[Key::kRole]);
  origin.host = text_of(fields_[Key::kHost]);
  origin.process_index = index_number(fields_[Key::kProcessIndex]);
  origin.pid = count_number(fields_[Key::kPid]);
  payload_.event.origin = &origin;
}

}  // namespace goodput::event
