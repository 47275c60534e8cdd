// SPDX-License-Identifier: Apache-2.0
#include "event/export/trace_json.h"

#include <cmath>

#include "base/time_text.h"
#include "base/utf8.h"
#include "event/json_text.h"
#include "event/payload_writer.h"

namespace goodput::event {
namespace {

void append_valid(std::string& out, std::string_view text) {
  std::string valid;
  append_repaired(valid, text);
  append_quoted(out, valid);
}

void append_field(std::string& out, std::string_view name, int64_t value) {
  out += ",\"";
  out += name;
  out += "\":";
  append_number(out, value);
}

/// Nanoseconds to whole microseconds. Both ends of a slice go down, so that what follows it still begins behind it.
constexpr int64_t microseconds(int64_t ns) { return ns / 1000; }

}  // namespace

void TraceArgs::name(std::string_view name) {
  json_ += json_.empty() ? "\"" : ",\"";
  json_ += name;
  json_ += "\":";
}

TraceArgs& TraceArgs::integer(std::string_view key, int64_t value) {
  name(key);
  append_number(json_, value);
  return *this;
}

TraceArgs& TraceArgs::number(std::string_view key, double value) {
  if (!std::isfinite(value)) return *this;
  name(key);
  append_number(json_, value);
  return *this;
}

TraceArgs& TraceArgs::text(std::string_view key, std::string_view value) {
  name(key);
  append_valid(json_, value);
  return *this;
}

TraceArgs& TraceArgs::mark(std::string_view key) {
  name(key);
  json_ += "true";
  return *this;
}

/// The unit stands first, where Perfetto looks for it.
void TraceJson::start(std::string& out) { out += "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["; }

void TraceJson::slice(std::string& out, TraceTrack track, std::string_view name, int64_t from_ns, int64_t to_ns,
                      const TraceArgs& args) {
  open(out, 'X', name, track);
  append_field(out, "ts", microseconds(from_ns));
  append_field(out, "dur", microseconds(to_ns) - microseconds(from_ns));
  close(out, args);
}

void TraceJson::instant(std::string& out, TraceTrack track, std::string_view name, int64_t at_ns,
                        const TraceArgs& args) {
  open(out, 'i', name, track);
  append_field(out, "ts", microseconds(at_ns));
  out += ",\"s\":\"t\"";  // of its track
  close(out, args);
}

void TraceJson::counter(std::string& out, TraceTrack track, std::string_view name, int64_t at_ns,
                        const TraceArgs& args) {
  if (args.empty()) return;
  open(out, 'C', name, track);
  append_field(out, "ts", microseconds(at_ns));
  close(out, args);
}

void TraceJson::name_process(std::string& out, TraceTrack track, std::string_view name) {
  open(out, 'M', "process_name", track);
  close(out, TraceArgs().text("name", name));
  sort_index(out, "process_sort_index", track, track.process);
}

void TraceJson::name_track(std::string& out, TraceTrack track, std::string_view name) {
  open(out, 'M', "thread_name", track);
  close(out, TraceArgs().text("name", name));
  sort_index(out, "thread_sort_index", track, track.id);
}

void TraceJson::sort_index(std::string& out, std::string_view what, TraceTrack track, uint32_t index) {
  open(out, 'M', what, track);
  close(out, TraceArgs().integer("sort_index", index));
}

void TraceJson::finish(std::string& out, std::string_view job, int64_t start_ns) {
  out += "\n],\"otherData\":{";
  out += TraceArgs().text("job", job).text("start", format_time_ns(start_ns)).json();
  out += "}}\n";
}

void TraceJson::open(std::string& out, char phase, std::string_view name, TraceTrack track) {
  out += first_ ? "\n" : ",\n";
  first_ = false;
  out += R"({"ph":")";
  out += phase;
  out += R"(","name":)";
  append_valid(out, name.empty() ? "(no name)" : name);
  append_field(out, "pid", track.process);
  append_field(out, "tid", track.id);
}

void TraceJson::close(std::string& out, const TraceArgs& args) {
  if (!args.empty()) {
    out += ",\"args\":{";
    out += args.json();
    out += '}';
  }
  out += '}';
}

}  // namespace goodput::event
