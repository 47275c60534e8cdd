// Payloads of golden cases into events, by the tables of SEMANTICS and nothing of the product's own reader.
// SPDX-License-Identifier: Apache-2.0
#include "golden_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/status.h"
#include "golden_decimal.h"

namespace goodput::golden {
namespace {

using event::Event;
using event::Kind;
using Type = Json::Type;

struct KeyOfKind {
  const char* key;
  Kind kind;
};
/// In the order in which they decide when an entry has several.
constexpr KeyOfKind kSimple[] = {{"job_start_time", Kind::kJobStart},
                                 {"job_end_time", Kind::kJobEnd},
                                 {"step_start_time", Kind::kStepStart},
                                 {"step_end_time", Kind::kStepEnd},
                                 {"heartbeat_time", Kind::kHeartbeat},
                                 {"process_exit_time", Kind::kProcessExit},
                                 {"elastic_slice_counts_timestamp", Kind::kSliceCounts}};
constexpr KeyOfKind kPaired[] = {{"tpu_init_start_time", Kind::kAcceleratorInitStart},
                                 {"tpu_init_end_time", Kind::kAcceleratorInitEnd},
                                 {"training_prep_start_time", Kind::kTrainingPrepStart},
                                 {"training_prep_end_time", Kind::kTrainingPrepEnd},
                                 {"compilation_start_time", Kind::kCompilationStart},
                                 {"compilation_end_time", Kind::kCompilationEnd},
                                 {"checkpoint_save_start_time", Kind::kCheckpointSaveStart},
                                 {"checkpoint_save_end_time", Kind::kCheckpointSaveEnd},
                                 {"checkpoint_restore_start_time", Kind::kCheckpointRestoreStart},
                                 {"checkpoint_restore_end_time", Kind::kCheckpointRestoreEnd},
                                 {"data_loading_start_time", Kind::kDataLoadingStart},
                                 {"data_loading_end_time", Kind::kDataLoadingEnd},
                                 {"custom_badput_event_start_time", Kind::kCustomStart},
                                 {"custom_badput_event_end_time", Kind::kCustomEnd},
                                 {"elastic_wait_start_time", Kind::kElasticWaitStart},
                                 {"elastic_wait_end_time", Kind::kElasticWaitEnd},
                                 {"elastic_reinit_start_time", Kind::kElasticReinitStart},
                                 {"elastic_reinit_end_time", Kind::kElasticReinitEnd},
                                 {"disruption_time", Kind::kDisruption}};

/// Equal for values that are equal once parsed: numbers by value, keys sorted.
void write_canonical(const Json& value, std::string& out) {
  switch (value.type) {
    case Type::kNull:
      out += "null";
      return;
    case Type::kTrue:
      out += "true";
      return;
    case Type::kFalse:
      out += "false";
      return;
    case Type::kString:
      out += "\"" + value.text + "\"";
      return;
    case Type::kNumber: {
      const std::optional<Decimal> number = decimal(value.text);
      out += number ? number->str() : value.text;
      return;
    }
    case Type::kArray:
      out += '[';
      for (const Json& item : value.items) write_canonical(item, out), out += ',';
      out += ']';
      return;
    case Type::kObject:
      out += '{';
      for (const auto& [name, member] : value.members) {
        out += "\"" + name + "\":";
        write_canonical(member, out);
        out += ',';
      }
      out += '}';
  }
}

std::optional<int64_t> step_number(const Json* step) {
  static const std::regex kDecimal("[+-]?[0-9]+(\\.[0-9]*)?");
  if (step == nullptr || !(step->is(Type::kNumber) || step->is(Type::kString))) return std::nullopt;
  if (step->is(Type::kString) && !std::regex_match(step->text, kDecimal)) return std::nullopt;
  const std::optional<Decimal> value = decimal(step->text);
  if (!value || abs(*value) > event::kMaxStep || denominator(*value) != 1) return std::nullopt;
  return static_cast<int64_t>(numerator(*value));
}

int64_t whole(const Json& payload, const char* key, int64_t otherwise) {
  const Json* value = payload.find(key);
  return value != nullptr && value->is(Type::kNumber) ? static_cast<int64_t>(value->number()) : otherwise;
}

class Reader {
 public:
  Reader(PayloadLog& log, std::string job_name) : log_(log), job_name_(std::move(job_name)) {}

  void read(const Json& payload, uint64_t place) {
    const Json* job = payload.find("job_name");
    if (!payload.is(Type::kObject) || (job != nullptr && (!job->is(Type::kString) || job->text != job_name_))) return;
    Event event{.position = {0, place}};
    if (!fill(payload, event)) {
      if (malformed_) ++log_.malformed_entries;
      malformed_ = false;
      return;
    }
    std::string canonical;
    write_canonical(payload, canonical);
    event.fingerprint = fingerprints_.emplace(canonical, fingerprints_.size() + 1).first->second;
    event.origin = &origin_of(payload);
    log_.events.push_back(event);
  }

 private:
  std::string_view keep(const Json* text) {
    return text != nullptr && text->is(Type::kString) ? log_.strings.emplace_back(text->text) : std::string_view();
  }

  bool malformed() {
    malformed_ = true;
    return false;
  }

  bool fill(const Json& payload, Event& event) {
    for (const KeyOfKind& simple : kSimple) {
      if (const Json* time = payload.find(simple.key)) return fill_simple(payload, simple.kind, *time, event);
    }
    if (const Json* type = payload.find("event_type"); type != nullptr && type->is(Type::kString)) {
      if (type->text == "save") {
        return fill_checkpoint(payload, Kind::kCheckpointSave, "checkpoint_manager_blocking_start_time",
                               "checkpoint_manager_blocking_duration_secs", event);
      }
      if (type->text == "restore" || type->text == "emergency_restore") {
        return fill_checkpoint(payload, Kind::kCheckpointRestore, "checkpoint_manager_start_time",
                               "checkpoint_manager_duration_secs", event);
      }
    }
    for (const KeyOfKind& paired : kPaired) {
      if (const Json* time = payload.find(paired.key)) return fill_paired(payload, paired.kind, *time, event);
    }
    return false;
  }

  bool fill_time(Kind kind, const Json& time, Event& event) {
    event.kind = kind;
    const std::optional<int64_t> time_ns = nanoseconds(&time);
    event.time_ns = time_ns.value_or(0);
    return time_ns ? true : malformed();
  }

  bool fill_simple(const Json& payload, Kind kind, const Json& time, Event& event) {
    if (!fill_time(kind, time, event)) return false;
    if (kind == Kind::kStepStart || kind == Kind::kStepEnd) {
      const std::optional<int64_t> step = step_number(payload.find("step_count"));
      if (!step) return malformed();
      event.step = *step;
    }
    const Json* failed = payload.find("job_end_failed");
    if (kind == Kind::kJobEnd && failed != nullptr && failed->is(Type::kTrue)) event.flags = event::kFailed;
    if (kind == Kind::kProcessExit) fill_exit(payload, event);
    if (kind == Kind::kSliceCounts) {
      event::Detail& detail = log_.details.emplace_back();
      detail.active_slices = whole(payload, "active_slices", 0);
      detail.total_slices = whole(payload, "total_slices", 1);
      detail.available_slices = whole(payload, "available_slices", 0);
      event.detail = &detail;
    }
    return true;
  }

  static void fill_exit(const Json& payload, Event& event) {
    const Json *code = payload.find("exit_code"), *signal = payload.find("exit_signal");
    if (code != nullptr && code->is(Type::kNumber)) {
      event.flags = event::kCode;
      event.exit_value = static_cast<int32_t>(code->number());
    } else if (signal != nullptr && signal->is(Type::kNumber)) {
      event.flags = event::kSignal;
      event.exit_value = static_cast<int32_t>(signal->number());
    }
  }

  bool fill_checkpoint(const Json& payload, Kind kind, const char* start, const char* duration, Event& event) {
    event.kind = kind;
    const std::optional<int64_t> duration_ns = nanoseconds(payload.find(duration), event::kMaxDurationNs);
    if (!duration_ns) return malformed();
    event.duration_ns = *duration_ns;
    const Json* time = payload.find(start);
    if (time == nullptr || time->is(Type::kNull)) {
      event.flags = event::kUntimed;
      return true;
    }
    return fill_time(kind, *time, event);
  }

  bool fill_paired(const Json& payload, Kind kind, const Json& time, Event& event) {
    if (!fill_time(kind, time, event)) return false;
    const Json* blocking = payload.find("blocking");
    if (kind == Kind::kDataLoadingStart && blocking != nullptr && blocking->is(Type::kTrue)) {
      event.flags = event::kBlocking;
    }
    if (event::start_of(kind) == Kind::kCustomStart) {
      const Json* type = payload.find("custom_badput_event_type");
      if (type == nullptr || !type->is(Type::kString)) return malformed();
      event.name = keep(type);
    }
    if (event::start_of(kind) == Kind::kElasticWaitStart) {
      const Json* type = payload.find("elastic_wait_event_type");
      event.name = type != nullptr && type->is(Type::kString) ? keep(type) : "unknown";
    }
    if (kind == Kind::kDisruption) {
      event::Detail& detail = log_.details.emplace_back();
      detail.cause = keep(payload.find("disruption_cause"));
      detail.text = keep(payload.find("disruption_detail"));
      event.detail = &detail;
    }
    return true;
  }

  const event::Origin& origin_of(const Json& payload) {
    event::Origin origin;
    origin.attempt_id = keep(payload.find("attempt_id"));
    origin.run_id = keep(payload.find("run_id"));
    origin.role = keep(payload.find("role"));
    origin.host = keep(payload.find("host"));
    origin.process_index = whole(payload, "process_index", 0);
    return log_.origins.emplace_back(origin);
  }

  PayloadLog& log_;
  std::string job_name_;
  std::map<std::string, uint64_t> fingerprints_;
  bool malformed_ = false;
};

std::optional<double> option(const Json& options, const char* name) {
  const Json* value = options.find(name);
  return value == nullptr ? std::nullopt : std::optional<double>(value->number());
}

int64_t time_of(const Json& seconds) {
  const std::optional<int64_t> time_ns = nanoseconds(&seconds);
  CHECK(time_ns.has_value());
  return *time_ns;
}

}  // namespace

std::unique_ptr<PayloadLog> read_payloads(const std::vector<Json>& payloads, const std::string& job_name) {
  auto log = std::make_unique<PayloadLog>();
  Reader reader(*log, job_name);
  for (size_t place = 0; place < payloads.size(); ++place) reader.read(payloads[place], place);
  return log;
}

GoldenCase load_golden_case(const std::string& path) {
  std::ifstream file(path);
  CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  const Json json = parse_json(text.str());
  GoldenCase golden;
  golden.name = json.at("name").text;
  golden.now_ns = time_of(json.at("now"));
  golden.expected = json.at("expected");
  if (const Json* options = json.find("options")) {
    golden.dead_after_seconds = option(*options, "dead_after_seconds");
    golden.stall_factor = option(*options, "stall_factor");
    golden.stall_floor_seconds = option(*options, "stall_floor_seconds");
  }
  for (const Json& window : json.at("windows").items) {
    golden.windows.push_back({time_of(window.at("from")), time_of(window.at("to")), window.at("expected")});
  }
  for (const Json& exclusion : json.at("exclusions").items) {
    GoldenCase::Exclusion& excluded = golden.exclusions.emplace_back();
    for (const Json& interval : exclusion.at("intervals").items) {
      excluded.intervals_ns.emplace_back(time_of(interval.items.at(0)), time_of(interval.items.at(1)));
    }
    excluded.expected = exclusion.at("expected");
  }
  golden.log = read_payloads(json.at("events").items, json.at("job_name").text);
  return golden;
}

std::vector<std::string> golden_case_paths(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace goodput::golden
