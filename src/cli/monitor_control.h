// What a training process tells the monitor that it started, and what it is answered: a line of JSON each.
//
//   {"start": "goodput", "figures": ["goodput", "badput"], "interval_seconds": 30}
//   {"start": "windows", "figures": ["windows"], "interval_seconds": 60, "windows_seconds": [3600, 86400]}
//   {"stop": "goodput", "flush": true, "timeout_seconds": 10}
//
// Each start is an uploader: figures that are exported at an interval of their own, under a name by which it is
// stopped. Answers, in the order of what they answer: {"started": NAME}, {"stopped": NAME, …}, {"refused": …}.
//
//   ControlLink link(fd);
//   for (const std::string& line : link.read()) { Result<MonitorCommand> command = parse_monitor_command(line); … }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "exporters/exporter.h"
#include "report/report.h"

namespace goodput::cli {

/// Figures that are exported at an interval.
struct Uploader {
  std::string name;
  exporters::Figures figures;
  int64_t interval_ns = 0;
  std::vector<int64_t> windows_ns;
};

struct StopUploader {
  std::string name;
  bool flushes = true;     ///< with a last look
  int64_t timeout_ns = 0;  ///< for sending what waits
};

using MonitorCommand = std::variant<Uploader, StopUploader>;

/// kInvalidArgument says what is wrong with the line. Nothing throws, whatever the line holds.
Result<MonitorCommand> parse_monitor_command(std::string_view line);

std::string started_answer(const std::string& name);
/// `reason` is empty where everything was sent.
std::string stopped_answer(const std::string& name, bool is_flushed, const std::string& reason,
                           const report::Report* latest);
std::string refused_answer(const std::string& reason);

/// One end of a socket. Nothing here waits, and SIGIO says that something has come: who makes one holds that signal.
class ControlLink {
 public:
  explicit ControlLink(int fd);
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  /// The whole lines that have come.
  std::vector<std::string> read();
  /// Whether nobody is left at the other end.
  [[nodiscard]] bool is_closed() const { return fd_ < 0; }
  /// An answer, which is dropped when the other end does not read.
  void tell(const std::string& answer);

 private:
  void close();

  int fd_;
  std::string unread_;  ///< the beginning of a line
};

}  // namespace goodput::cli
