// SPDX-License-Identifier: Apache-2.0
#include "exporters/disruption_text.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "report/words.h"

namespace goodput::exporters {

bool is_settled(const report::Report& report, const report::Disruption& disruption) {
  const bool has_ended = report.status == report::JobStatus::kCompleted || report.status == report::JobStatus::kFailed;
  return disruption.recovery_seconds.has_value() || has_ended;
}

std::string disruption_text(const report::Disruption& disruption) {
  const auto step = [](const std::optional<int64_t>& number) {
    return number.has_value() ? std::to_string(*number) : std::string("none");
  };
  std::string text =
      fmt::format("{} at {}: {}", report::to_word(disruption.kind), format_time(disruption.time_ns), disruption.cause);
  if (!disruption.detail.empty()) text += fmt::format(" ({})", disruption.detail);
  text += fmt::format("; step {} → {}, {} steps lost, {:.1f} s of work", step(disruption.last_step),
                      step(disruption.resume_step), disruption.steps_wasted, disruption.wasted_seconds);
  if (disruption.recovery_seconds.has_value())
    text += fmt::format(", {:.1f} s to recover", *disruption.recovery_seconds);
  return text;
}

}  // namespace goodput::exporters
