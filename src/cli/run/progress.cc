// SPDX-License-Identifier: Apache-2.0
#include "cli/run/progress.h"

#include <memory>
#include <span>

#include "base/clock.h"
#include "base/file_system.h"
#include "event/event.h"
#include "journal/job_log.h"

namespace goodput::cli {

bool is_of_attempt(std::string_view name, std::string_view attempt_id) {
  if (!name.starts_with(attempt_id)) return false;
  const std::string_view rest = name.substr(attempt_id.size());
  return rest.empty() || rest[0] == '.' || rest[0] == '#';
}

bool has_recorded_step(const std::vector<journal::Root>& roots, const std::string& job, const std::string& run_id,
                       std::string_view attempt_id) {
  const auto log = journal::JobLog::open(posix_file_system(), roots, job, run_id, system_clock());
  if (!log.ok()) return false;
  bool found = false;
  const Status polled = (*log)->poll([&](std::span<const event::Event> events) {
    for (const event::Event& each : events) {
      // Of ranks other than 0 no steps are given.
      found |= each.kind == event::Kind::kStepStart && each.origin != nullptr && each.origin->role.empty() &&
               is_of_attempt(each.origin->attempt_id, attempt_id);
    }
    return true;
  });
  return polled.ok() && found;
}

}  // namespace goodput::cli
