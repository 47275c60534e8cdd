// SPDX-License-Identifier: Apache-2.0
#include "doctor/event_survey.h"

#include <algorithm>
#include <utility>

namespace goodput::doctor {

using event::Event;
using event::Kind;

void EventSurveyor::push(std::span<const Event> events) {
  for (const Event& event : events) {
    if (event.kind > event::kLastKind) continue;
    ++survey_.events_by_kind[static_cast<size_t>(event.kind)];
    const bool is_trainer = event.origin == nullptr || event.origin->role.empty();
    // Heartbeats come from a thread of their own: they say nothing about the order of things in the loop.
    if (is_trainer && event.process_index() == 0 && event.kind != Kind::kHeartbeat) push_lead(event);
  }
}

void EventSurveyor::push_lead(const Event& event) {
  if (event.origin != nullptr && event.origin->attempt_id != attempt_id_) {
    attempt_id_ = event.origin->attempt_id;
    last_step_.reset();
  }
  const std::optional<int64_t> load_just_ended_ns = std::exchange(load_ns_, std::nullopt);
  switch (event.kind) {
    case Kind::kJobStart:
      last_step_.reset();
      break;
    case Kind::kDataLoadingStart:
      load_start_ns_.reset();
      if (last_step_.has_value() && !event.has(event::kBlocking)) load_start_ns_ = event.time_ns;
      break;
    case Kind::kDataLoadingEnd:
      if (load_start_ns_.has_value()) load_ns_ = event.time_ns - *load_start_ns_;
      load_start_ns_.reset();
      break;
    case Kind::kStepStart:
      if (last_step_.has_value() && load_just_ended_ns.has_value()) {
        ++survey_.loads_before_steps;
        survey_.loads_before_steps_ns += *load_just_ended_ns;
      }
      push_step(event);
      break;
    default:
      break;
  }
}

void EventSurveyor::push_step(const Event& event) {
  if (last_step_.has_value() && event.step > *last_step_) {
    const int64_t steps = event.step - *last_step_;
    ++survey_.step_intervals;
    if (steps > 1) ++survey_.wide_intervals;
    survey_.widest_interval = std::max(survey_.widest_interval, steps);
    survey_.intervals_ns += event.time_ns - last_step_ns_;
  }
  last_step_ = event.step;
  last_step_ns_ = event.time_ns;
}

}  // namespace goodput::doctor
