// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor_status.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/foreign_json.h"
#include "base/host_name.h"
#include "base/time_text.h"
#include "journal/cache_file.h"
#include "journal/folder_names.h"
#include "monitor/kept_folder.h"

namespace goodput::monitor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPrefix = "monitor-";
constexpr const char* kSchema = "goodput.monitor/1";
constexpr size_t kHashDigits = 32;
constexpr uint64_t kMaxBytes = 1 << 20;
constexpr double kNsPerSecond = 1e9;

/// One for each set of sinks.
std::string file_name(const MonitorStatus& status) {
  std::vector<std::string> names;
  for (const SinkStatus& sink : status.sinks) names.push_back(sink.name);
  std::sort(names.begin(), names.end());
  std::string all = status.host;
  for (const std::string& name : names) (all += '\n') += name;
  return std::string(kPrefix) + journal::hash_name(all);
}

Json time_or_null(int64_t ns) { return ns == 0 ? Json(nullptr) : Json(format_time(ns)); }

int64_t time_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return 0;
  return parse_rfc3339(found->get<std::string>()).value_or(0);
}

Json sink_to_json(const SinkStatus& sink) {
  const exporters::PipeCounters& counters = sink.counters;
  Json json;
  json["name"] = sink.name;
  json["queued"] = counters.is_waiting;
  json["updates"] = counters.offered;
  json["sent"] = counters.sent;
  json["failures"] = counters.failed;
  json["given_up"] = counters.given_up;
  json["rejected"] = counters.rejected;
  json["last_rejection"] = counters.last_rejection.empty() ? Json(nullptr) : Json(counters.last_rejection);
  json["dropped_steps"] = counters.dropped_steps;
  json["last_success"] = time_or_null(counters.last_success_ns);
  json["last_failure"] = counters.last_failure.empty() ? Json(nullptr) : Json(counters.last_failure);
  return json;
}

SinkStatus parse_sink(const Json& json) {
  SinkStatus sink;
  sink.name = json.value("name", "");
  sink.counters.is_waiting = json.value("queued", false);
  sink.counters.offered = json.value("updates", uint64_t{0});
  sink.counters.sent = json.value("sent", uint64_t{0});
  sink.counters.failed = json.value("failures", uint64_t{0});
  sink.counters.given_up = json.value("given_up", uint64_t{0});
  sink.counters.rejected = json.value("rejected", uint64_t{0});
  sink.counters.dropped_steps = json.value("dropped_steps", uint64_t{0});
  sink.counters.last_success_ns = time_of(json, "last_success");
  sink.counters.last_failure = text_of(json, "last_failure");
  sink.counters.last_rejection = text_of(json, "last_rejection");
  return sink;
}

}  // namespace

std::string status_to_json(const MonitorStatus& status) {
  Json json;
  json["schema"] = kSchema;
  json["host"] = status.host;
  json["boot_id"] = status.boot_id;
  json["pid"] = status.pid;
  json["pid_namespace"] = status.pid_namespace;
  json["version"] = status.version;
  json["started"] = format_time(status.started_ns);
  json["updated"] = format_time(status.updated_ns);
  json["ended"] = time_or_null(status.ended_ns.value_or(0));
  json["interval_seconds"] = static_cast<double>(status.interval_ns) / kNsPerSecond;
  json["options"] = Json::object();
  for (const auto& [name, value] : status.options) json["options"][name] = value;
  json["failure"] = status.failure.empty() ? Json(nullptr) : Json(status.failure);
  json["sinks"] = Json::array();
  for (const SinkStatus& sink : status.sinks) json["sinks"].push_back(sink_to_json(sink));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<MonitorStatus> parse_status(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // A value of another type than its key has makes the library throw.
  try {
    if (!json.is_object() || json.value("schema", "") != kSchema) return std::nullopt;
    MonitorStatus status;
    status.host = json.value("host", "");
    status.boot_id = json.value("boot_id", "");
    status.pid = json.value("pid", int64_t{0});
    status.pid_namespace = json.value("pid_namespace", uint64_t{0});
    status.version = json.value("version", "");
    status.started_ns = time_of(json, "started");
    status.updated_ns = time_of(json, "updated");
    if (const int64_t ended_ns = time_of(json, "ended"); ended_ns != 0) status.ended_ns = ended_ns;
    constexpr double kLongestSeconds = 1e9;
    status.interval_ns =
        static_cast<int64_t>(std::clamp(json.value("interval_seconds", 0.0), 0.0, kLongestSeconds) * kNsPerSecond);
    if (const auto options = json.find("options"); options != json.end() && options->is_object()) {
      for (const auto& [name, value] : options->items()) status.options.emplace_back(name, value.get<std::string>());
    }
    status.failure = text_of(json, "failure");
    if (const auto sinks = json.find("sinks"); sinks != json.end() && sinks->is_array()) {
      for (const Json& sink : *sinks) status.sinks.push_back(parse_sink(sink));
    }
    return status;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Place this_place() {
  struct stat of_pids = {};
  const bool is_known = ::stat("/proc/self/ns/pid", &of_pids) == 0;
  return {.host = host_name(), .boot_id = read_boot_id(), .pid_namespace = is_known ? of_pids.st_ino : 0};
}

MonitorHealth health_of(const MonitorStatus& status, int64_t now_ns, const Place& here) {
  if (status.ended_ns.has_value()) return MonitorHealth::kEnded;
  const bool is_here =
      status.host == here.host && status.boot_id == here.boot_id && status.pid_namespace == here.pid_namespace;
  if (is_here && status.pid > 0 && ::kill(static_cast<pid_t>(status.pid), 0) != 0 && errno == ESRCH)
    return MonitorHealth::kStale;
  // A look may take its time, and writes its file in the end.
  constexpr int64_t kPatienceNs = 10'000'000'000;
  return now_ns - status.updated_ns > 3 * status.interval_ns + kPatienceNs ? MonitorHealth::kStale
                                                                           : MonitorHealth::kRunning;
}

const char* to_word(MonitorHealth health) {
  switch (health) {
    case MonitorHealth::kRunning:
      return "running";
    case MonitorHealth::kEnded:
      return "ended";
    case MonitorHealth::kStale:
      return "stale";
  }
  return "";
}

std::vector<SeenMonitor> see_monitors(const journal::JobLog& log, int64_t now_ns) {
  const Place here = this_place();
  std::vector<SeenMonitor> seen;
  for (MonitorStatus& status : read_statuses(log)) {
    const MonitorHealth health = health_of(status, now_ns, here);
    seen.push_back({std::move(status), health});
  }
  return seen;
}

Status write_status(journal::JobLog& log, const MonitorStatus& status) {
  Directory* kept = kept_folder(log);
  if (kept == nullptr) return {StatusCode::kPermissionDenied, "writing the monitor's status: the folder is not ours"};
  const std::string text = status_to_json(status);
  return journal::replace_cache_file(*kept, file_name(status), std::as_bytes(std::span(text)));
}

std::vector<MonitorStatus> read_statuses(const journal::JobLog& log) {
  std::vector<MonitorStatus> found;
  for (const Directory* folder : log.run_folders()) {
    Directory* kept = log.kept_of(*folder);
    if (kept == nullptr) continue;
    const Result<std::vector<std::string>> names = kept->list();
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kHashDigits) continue;
      const auto bytes = read_whole_file(*kept, name, kMaxBytes);
      if (!bytes.ok()) continue;
      auto status = parse_status({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
      if (status.has_value()) found.push_back(std::move(*status));
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.updated_ns > b.updated_ns; });
  return found;
}

}  // namespace goodput::monitor
