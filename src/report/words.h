// The words of a report: names of classes and of states, the same in C++, JSON, the terminal and every exporter.
//
//   to_word(JobStatus::kDown)                     // "down"
//   from_word<JobStatus>("down")                  // JobStatus::kDown; empty for a word that is none
//   seconds[kProductive]
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "report/report.h"

namespace goodput::report {

constexpr std::string_view kProductive = "PRODUCTIVE";
constexpr std::string_view kCustomBadput = "CUSTOM_BADPUT_EVENTS";
constexpr std::string_view kInfrastructureRecovery = "INFRASTRUCTURE_RECOVERY";

std::string_view to_word(JobStatus status);
std::string_view to_word(AttemptStatus status);
std::string_view to_word(DisruptionKind kind);
std::string_view to_word(Severity severity);

/// The value that `word` names; empty when it names none. Defined for the four enumerations above.
template <typename Enum>
std::optional<Enum> from_word(std::string_view word);

}  // namespace goodput::report
