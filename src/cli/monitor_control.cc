// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace goodput::cli {
namespace {

using nlohmann::json;

constexpr size_t kMaxLineBytes = 65'536;         // a start with a thousand windows has a tenth of this
constexpr double kMaxSeconds = 1e9;              // as of any duration that is accounted
constexpr int64_t kMinIntervalNs = 100'000'000;  // as of --interval

Status wrong(const std::string& what) {
  return {StatusCode::kInvalidArgument, "reading a command of the training process: " + what};
}

/// The member as seconds within bounds; nothing when there is none, or null.
Result<std::optional<int64_t>> seconds_of(const json& command, const char* key) {
  const auto member = command.find(key);
  if (member == command.end() || member->is_null()) return std::optional<int64_t>();
  const double seconds = member->is_number() ? member->get<double>() : -1;
  if (!(seconds >= 0 && seconds <= kMaxSeconds)) return wrong(fmt::format("\"{}\" is no duration in seconds", key));
  return std::optional<int64_t>(std::llround(seconds * 1e9));
}

Result<exporters::Figures> figures_of(const json& command) {
  exporters::Figures figures{.goodput = false, .badput = false, .windows = false, .steps = false};
  const auto names = command.find("figures");
  if (names == command.end() || !names->is_array()) return wrong("\"figures\" is no list");
  for (const json& name : *names) {
    const std::string text = name.is_string() ? name.get<std::string>() : std::string();
    bool* wanted = text == "goodput"   ? &figures.goodput
                   : text == "badput"  ? &figures.badput
                   : text == "windows" ? &figures.windows
                   : text == "steps"   ? &figures.steps
                                       : nullptr;
    if (wanted == nullptr)
      return wrong(fmt::format("there are no figures {}", name.dump(-1, ' ', true, json::error_handler_t::replace)));
    *wanted = true;
  }
  return figures;
}

Result<MonitorCommand> start_of(const json& command, const std::string& name) {
  Uploader uploader{.name = name, .figures = {}, .windows_ns = {}};
  ASSIGN_OR_RETURN(uploader.figures, figures_of(command));
  ASSIGN_OR_RETURN(const std::optional<int64_t> interval_ns, seconds_of(command, "interval_seconds"));
  if (!interval_ns.has_value()) return wrong("\"interval_seconds\" is not given");
  uploader.interval_ns = std::max(*interval_ns, kMinIntervalNs);
  ASSIGN_OR_RETURN(const std::optional<int64_t> ideal_ns, seconds_of(command, "ideal_step_seconds"));
  if (ideal_ns.has_value()) uploader.figures.ideal_step_seconds = static_cast<double>(*ideal_ns) / 1e9;
  const auto windows = command.find("windows_seconds");
  if (windows == command.end()) return MonitorCommand(std::move(uploader));
  if (!windows->is_array()) return wrong("\"windows_seconds\" is no list");
  for (const json& window : *windows) {
    ASSIGN_OR_RETURN(const std::optional<int64_t> window_ns, seconds_of({{"window", window}}, "window"));
    if (window_ns.value_or(0) <= 0) return wrong("a window is to be longer than 0");
    uploader.windows_ns.push_back(*window_ns);
  }
  return MonitorCommand(std::move(uploader));
}

Result<MonitorCommand> stop_of(const json& command, const std::string& name) {
  constexpr int64_t kForEverNs = static_cast<int64_t>(kMaxSeconds) * 1'000'000'000;
  ASSIGN_OR_RETURN(const std::optional<int64_t> timeout_ns, seconds_of(command, "timeout_seconds"));
  const auto flush = command.find("flush");
  if (flush != command.end() && !flush->is_boolean()) return wrong("\"flush\" is neither true nor false");
  return MonitorCommand(StopUploader{.name = name,
                                     .flushes = flush == command.end() || flush->get<bool>(),
                                     .timeout_ns = timeout_ns.value_or(kForEverNs)});
}

std::string line_of(const json& answer) { return answer.dump(-1, ' ', true, json::error_handler_t::replace) + "\n"; }

}  // namespace

Result<MonitorCommand> parse_monitor_command(std::string_view line) {
  const json command = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!command.is_object()) return wrong("it is no JSON object");
  for (const auto& [key, read] : {std::pair{"start", &start_of}, std::pair{"stop", &stop_of}}) {
    const auto name = command.find(key);
    if (name == command.end()) continue;
    if (!name->is_string()) return wrong(fmt::format("\"{}\" is no name", key));
    return read(command, name->get<std::string>());
  }
  return wrong("it neither starts nor stops anything");
}

std::string started_answer(const std::string& name) { return line_of({{"started", name}}); }

std::string stopped_answer(const std::string& name, bool is_flushed, const std::string& reason,
                           const report::Report* latest) {
  json answer = {{"stopped", name}, {"flushed", is_flushed}, {"reason", reason}};
  if (latest != nullptr && latest->goodput_percent.has_value()) {
    answer["goodput_percent"] = *latest->goodput_percent;
    answer["max_productive_step"] = latest->max_productive_step;
  }
  return line_of(answer);
}

std::string refused_answer(const std::string& reason) { return line_of({{"refused", reason}}); }

ControlLink::ControlLink(int fd) : fd_(fd) {
  fcntl(fd_, F_SETFD, FD_CLOEXEC);
  fcntl(fd_, F_SETOWN, getpid());
  if (fcntl(fd_, F_SETFL, O_NONBLOCK | O_ASYNC) < 0) fd_ = -1;  // no descriptor of ours: nobody is there
}

ControlLink::~ControlLink() { close(); }

void ControlLink::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::vector<std::string> ControlLink::read() {
  std::vector<std::string> lines;
  char bytes[4096];
  while (fd_ >= 0) {
    const ssize_t got = ::recv(fd_, bytes, sizeof(bytes), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got <= 0) {
      close();
      break;
    }
    unread_.append(bytes, static_cast<size_t>(got));
    for (size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
      lines.push_back(unread_.substr(0, end));
      unread_.erase(0, end + 1);
    }
    if (unread_.size() > kMaxLineBytes) close();  // that is not the program that started this one
  }
  return lines;
}

void ControlLink::tell(const std::string& answer) {
  if (fd_ >= 0) (void)!::send(fd_, answer.data(), answer.size(), MSG_NOSIGNAL);
}

}  // namespace goodput::cli
