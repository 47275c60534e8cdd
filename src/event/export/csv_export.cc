// SPDX-License-Identifier: Apache-2.0
#include "event/export/csv_export.h"

#include <cmath>
#include <string_view>

#include "base/decimal.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "event/json_text.h"
#include "event/kind_names.h"
#include "event/payload_writer.h"

namespace goodput::event {
namespace {

constexpr std::string_view kHeader =
    "time,time_seconds,kind,step,duration_seconds,name,blocking,failed,emergency,exit_code,exit_signal,directory,cause,"
    "detail,active_slices,total_slices,available_slices,tokens,samples,flops,attempt_id,run_id,process_index,role,host,"
    "pid,sequence\n";

/// Writes the cells of one row.
class Row {
 public:
  Row(std::string& out, std::string& scratch) : out_(out), scratch_(scratch) {}

  void empty() { separate(); }
  void integer(int64_t value) {
    separate();
    append_number(out_, value);
  }
  void integer_if(bool given, int64_t value) { given ? integer(value) : empty(); }
  void seconds(int64_t ns) {
    separate();
    append_seconds(out_, ns);
  }
  void seconds_if(bool given, int64_t ns) { given ? seconds(ns) : empty(); }
  void work(double value) {
    separate();
    if (!std::isnan(value)) append_number(out_, value);
  }
  void mark(bool set) {
    separate();
    if (set) out_ += "true";
  }
  void plain(std::string_view value) {
    separate();
    out_ += value;
  }
  void text(std::string_view value) {
    separate();
    scratch_.clear();
    append_repaired(scratch_, value);
    if (scratch_.find_first_of(",\"\r\n") == std::string::npos) {
      out_ += scratch_;
      return;
    }
    out_ += '"';
    for (const char c : scratch_) {
      if (c == '"') out_ += '"';
      out_ += c;
    }
    out_ += '"';
  }
  void position(const Position& position) {
    separate();
    append_position(out_, position);
  }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  std::string& scratch_;
  bool first_ = true;
};

bool has_step(const Event& e) { return e.kind == Kind::kStepStart || e.kind == Kind::kStepEnd || e.has(kHasStep); }

void write_row(Row row, const Event& e) {
  const bool timed = !e.has(kUntimed);
  row.plain(timed ? format_time_ns(e.time_ns) : std::string());
  row.seconds_if(timed, e.time_ns);
  row.plain(name_of(e.kind));
  row.integer_if(has_step(e), e.step);
  row.seconds_if(e.kind == Kind::kCheckpointSave || e.kind == Kind::kCheckpointRestore, e.duration_ns);
  row.text(e.name);
  row.mark(e.has(kBlocking));
  row.mark(e.has(kFailed));
  row.mark(e.has(kEmergency));
  row.integer_if(e.has(kCode), e.exit_value);
  row.integer_if(e.has(kSignal), e.exit_value);
  const Detail& detail = e.detail != nullptr ? *e.detail : Detail{};
  row.text(detail.location);
  row.text(detail.cause);
  row.text(detail.text);
  const bool slices = e.kind == Kind::kSliceCounts;
  for (const int64_t count : {detail.active_slices, detail.total_slices, detail.available_slices}) {
    row.integer_if(slices, count);
  }
  for (const double work : {detail.tokens, detail.samples, detail.flops}) row.work(work);
  const bool known = e.origin != nullptr;
  const Origin& origin = known ? *e.origin : Origin{};
  row.text(origin.attempt_id);
  row.text(origin.run_id);
  row.integer_if(known, origin.process_index);
  row.text(origin.role);
  row.text(origin.host);
  row.integer_if(origin.pid != 0, origin.pid);
  row.position(e.position);
}

}  // namespace

void CsvExport::begin(std::string& out) { out += kHeader; }

void CsvExport::append(std::span<const Event> events, std::string& out) {
  for (const Event& event : events) {
    write_row(Row(out, scratch_), event);
    out += '\n';
  }
}

}  // namespace goodput::event
