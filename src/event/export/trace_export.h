// Events as trace JSON, for https://ui.perfetto.dev and chrome://tracing.
//
// To look at a run: every attempt of every rank is a process of the trace, with a track for the attempt, one for its
// steps and one for each sort of event; instants for what has no length; counters for step time, tokens and slices.
//
//   TraceExport trace("llama-7b");
//   trace.begin(out);
//   trace.append(events, out);      // again and again, by time
//   trace.finish(out);              // closes what is open
//
// Slices of a track never overlap, as the format demands: where two of one sort do, a second track is made. Times are
// whole microseconds since the first event, exact in the doubles that viewers use. Where no attempt ids are told, a job
// start begins an attempt. One thread, no failure. Memory is that of the processes and of what is open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "event/event.h"

namespace goodput::event {

class TraceExport {
 public:
  explicit TraceExport(std::string_view job);
  ~TraceExport();

  void begin(std::string& out);
  /// An event that is earlier than one before it is drawn at the time of that one, and one without a time of its own
  /// too.
  void append(std::span<const Event> events, std::string& out);
  void finish(std::string& out);

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace goodput::event
