// The names that ml-goodput-measurement gives to classes of time, where programs and dashboards expect these.
//
//   incumbent_name("CHECKPOINT_SAVE")        // "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME"
//   for (const auto& [name, seconds] : incumbent_badput(report.badput_seconds)) …
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "report/report.h"

namespace goodput::exporters {

/// Every class that it knows but custom events, in its order; DATA_LOADING_ASYNC among them.
constexpr std::array<std::string_view, 13> kIncumbentClasses = {
    "TPU_INITIALIZATION",
    "TRAINING_PREP",
    "PROGRAM_STARTUP",
    "DATA_LOADING_SYNC",
    "DATA_LOADING_ASYNC",
    "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME",
    "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME",
    "WASTED_PROGRESS_FROM_DISRUPTION",
    "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION",
    "ELASTIC_SLICE_DOWN",
    "ELASTIC_SCALE_UP",
    "ELASTIC_REINITIALIZATION",
    "OTHER",
};

/// Of a class of ours. STALLED is part of its OTHER.
constexpr std::string_view incumbent_name(std::string_view time_class) {
  constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"ACCELERATOR_INITIALIZATION", "TPU_INITIALIZATION"},
      {"CHECKPOINT_SAVE", "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME"},
      {"CHECKPOINT_RESTORE", "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME"},
      {"WASTED_PROGRESS", "WASTED_PROGRESS_FROM_DISRUPTION"},
      {"INFRASTRUCTURE_RECOVERY", "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION"},
      {"STALLED", "OTHER"},
  };
  for (const auto& [ours, its] : kOther) {
    if (ours == time_class) return its;
  }
  return time_class;
}

/// Seconds by its names: every one of kIncumbentClasses, zero where there is none; DATA_LOADING_ASYNC is the caller's.
inline std::map<std::string_view, double> incumbent_badput(const report::SecondsByName& badput_seconds) {
  std::map<std::string_view, double> out;
  for (const std::string_view name : kIncumbentClasses) out[name] = 0;
  for (const auto& [time_class, seconds] : badput_seconds) out[incumbent_name(time_class)] += seconds;
  return out;
}

}  // namespace goodput::exporters
