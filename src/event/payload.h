// A payload, the JSON form of an event as Cloud Logging carries it, read into an Event.
//
// Use it for every JSON log: exports, caches of other tools, our own. The other way is payload_writer.h; the keys are
// described in docs/formats/event.md, what is malformed in docs/semantics.md.
//
//   PayloadReader reader;
//   const Payload& entry = reader.read(R"({"job_name": "j", "step_count": 5, "step_start_time": 1767225600.25})");
//   if (entry.verdict == Verdict::kEvent && entry.is_of("j")) use(entry.event);
//
// One thread. No failure: what cannot be used says why. Nothing is allocated per entry once buffers have grown.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "event/event.h"
#include "event/payload_fields.h"

namespace goodput::event {

enum class Verdict : uint8_t {
  kEvent,
  kMalformed,   ///< means to be an event and cannot be used: counted, with its flaw
  kNotAnEvent,  ///< of no kind that we know: ignored
  kEnvelope,    ///< an object around a payload (a log entry, a Pub/Sub message): importers/log_entry.h opens it
};

/// What makes an entry malformed.
enum class Flaw : uint8_t {
  kNone,
  kNotAnObject,  ///< no JSON, or another value
  kTooDeep,
  kTime,        ///< missing, null, not a finite number, or outside [0, 4·10^9] s
  kDuration,    ///< the same outside [0, 10^9] s
  kStep,        ///< no integer within ±2^53
  kCustomType,  ///< a custom event without a text for its type
};
constexpr size_t kFlaws = static_cast<size_t>(Flaw::kCustomType) + 1;

/// The flaw in words, for a report: "its time is missing, not a number or out of range".
[[nodiscard]] std::string_view words_for(Flaw flaw);

/// Views and pointers inside refer to the reader, and hold until it reads the next entry.
struct Payload {
  Verdict verdict = Verdict::kNotAnEvent;
  Flaw flaw = Flaw::kNone;
  bool repaired = false;      ///< held bytes that are not UTF-8, read as U+FFFD
  bool has_position = false;  ///< event.position is what its `sequence` says; else it is left at zero
  bool has_job = false;       ///< has a job_name
  bool job_is_text = false;   ///< … which is a text; one that is not names no job that can be asked for
  std::string_view job;
  Event event;  ///< kEvent; time_ns is left at zero with flag kUntimed. `origin` is null when no key tells of it
  Origin origin;
  Detail detail;

  /// Whether it belongs to the job asked for: an entry without a job name belongs to any.
  [[nodiscard]] bool is_of(std::string_view job_asked_for) const {
    return !has_job || (job_is_text && job == job_asked_for);
  }
};

class PayloadReader {
 public:
  /// Reads one entry. The answer is owned by the reader and overwritten by the next call.
  const Payload& read(std::string_view json);

  /// The keys and values of the entry read last, those of an envelope among them.
  [[nodiscard]] const PayloadFields& fields() const { return fields_; }

 private:
  void classify();
  void take_time(Key key);
  void take_checkpoint(Key start, Key duration, Kind kind, uint8_t flags);
  void take_particulars();
  void take_exit();
  void take_origin();
  bool take_step(Key key);

  PayloadFields fields_;
  Payload payload_;
};

/// "major-minor", as `sequence` has it. False when the text is no such pair.
[[nodiscard]] bool parse_position(std::string_view text, Position& position);

}  // namespace goodput::event
