// An event written as a payload, the JSON form that payload.h reads.
//
// For exports, simulated logs and anything that is to be read by other tools. One object on one line; reading it gives
// the same event again (the fingerprint apart, which is of the text).
//
//   PayloadWriter writer("llama-7b", {.with_position = true});
//   writer.append(line, event);       // {"job_name":"llama-7b","step_count":5,"step_start_time":1767225600.25}
//   line += '\n';
//
// One thread; nothing is allocated per event once `out` has grown. No failure: what JSON cannot hold (bytes that are
// not UTF-8) becomes U+FFFD, and what no key is for (a boot id) is left out. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "event/event.h"

namespace goodput::event {

struct PayloadOptions {
  bool with_position = true;  ///< `sequence`: where the event stands in its log. Off for logs as other tools write them
};

class PayloadWriter {
 public:
  /// An empty job leaves job_name out: the entry then belongs to whatever job is asked for.
  explicit PayloadWriter(std::string_view job, PayloadOptions options = {});

  /// Appends one object, without a line break. Kind::kNone has no JSON form and must not be given.
  void append(std::string& out, const Event& event);

 private:
  void set_origin(const Origin& origin);

  std::string opening_;  // the brace and the job name
  PayloadOptions options_;
  std::string origin_key_;     // what origin_fields_ was made of: origins are compared by content, for who owns one
  std::string origin_fields_;  // may use its memory for another
  std::string scratch_;
};

/// Appends "major-minor", as `sequence` has it.
void append_position(std::string& out, const Position& position);

/// Appends a number as JSON has it, shortest form that reads as the same double; an infinite one as ±1e999. Not for
/// NaN.
void append_number(std::string& out, double value);
void append_number(std::string& out, int64_t value);

}  // namespace goodput::event
