// The lines of a trace: slices, instants, counters, and the names of processes and tracks.
//
// The lower half of trace_export.h, which says what they are about.
//
//   TraceJson json;
//   json.start(out);
//   json.slice(out, track, "step 5", 1'000'000, 351'000'000, TraceArgs().integer("step", 5));
//   json.finish(out, "llama-7b", start_ns);
//
// Written after the Trace Event Format of Chrome, within what Perfetto reads of it: ids are 32-bit integers, every
// event has a name, counters are numbers, text is valid UTF-8. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goodput::event {

struct TraceTrack {
  uint32_t process = 0;
  uint32_t id = 0;
};

/// The arguments of one trace event, in order.
class TraceArgs {
 public:
  TraceArgs& integer(std::string_view name, int64_t value);
  TraceArgs& number(std::string_view name, double value);  ///< left out when it is not finite
  TraceArgs& text(std::string_view name, std::string_view value);
  TraceArgs& mark(std::string_view name);  ///< true

  [[nodiscard]] bool empty() const { return json_.empty(); }
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  void name(std::string_view name);

  std::string json_;
};

class TraceJson {
 public:
  void start(std::string& out);
  /// From and to in nanoseconds since the start of the trace.
  void slice(std::string& out, TraceTrack track, std::string_view name, int64_t from_ns, int64_t to_ns,
             const TraceArgs& args = {});
  void instant(std::string& out, TraceTrack track, std::string_view name, int64_t at_ns, const TraceArgs& args = {});
  /// One counter of the process for each argument.
  void counter(std::string& out, TraceTrack track, std::string_view name, int64_t at_ns, const TraceArgs& args);
  void name_process(std::string& out, TraceTrack track, std::string_view name);
  void name_track(std::string& out, TraceTrack track, std::string_view name);
  void finish(std::string& out, std::string_view job, int64_t start_ns);

 private:
  void open(std::string& out, char phase, std::string_view name, TraceTrack track);
  void close(std::string& out, const TraceArgs& args);
  void sort_index(std::string& out, std::string_view what, TraceTrack track, uint32_t index);

  bool first_ = true;
};

}  // namespace goodput::event
