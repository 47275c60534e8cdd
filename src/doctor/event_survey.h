// What a job recorded and how, counted in one pass over its events: which kinds there are, how dense the steps lie, and
// whether the loop waits for its input.
//
// Use it for what a report's totals no longer show.
//
//   EventSurveyor surveyor;
//   log.read(from_ns, to_ns, [&](std::span<const event::Event> events) { surveyor.push(events); return true; });
//   const Survey survey = surveyor.survey();
//
// Memory is constant. Pure; nothing throws. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "event/event.h"

namespace goodput::doctor {

struct Survey {
  std::array<int64_t, static_cast<size_t>(event::kLastKind) + 1>
      events_by_kind{};            ///< of rank 0, its launcher and its monitor
  int64_t step_intervals = 0;      ///< from one step record to the next with a greater number, in one attempt
  int64_t wide_intervals = 0;      ///< of these, those that cover more than one step
  int64_t widest_interval = 0;     ///< in steps
  int64_t intervals_ns = 0;        ///< how long they all took
  int64_t loads_before_steps = 0;  ///< loads between steps, not marked blocking, right before a step record
  int64_t loads_before_steps_ns = 0;

  [[nodiscard]] int64_t count(event::Kind kind) const { return events_by_kind[static_cast<size_t>(kind)]; }
};

class EventSurveyor {
 public:
  /// By time, as a source reads them.
  void push(std::span<const event::Event> events);
  [[nodiscard]] const Survey& survey() const { return survey_; }

 private:
  void push_lead(const event::Event& event);
  void push_step(const event::Event& event);

  Survey survey_;
  std::string attempt_id_;
  std::optional<int64_t> last_step_;
  int64_t last_step_ns_ = 0;
  std::optional<int64_t> load_start_ns_;  ///< of a load that is open, between steps and not blocking
  std::optional<int64_t> load_ns_;        ///< length of such a load, while nothing has followed it
};

}  // namespace goodput::doctor
