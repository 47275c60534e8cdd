// What an engine promises, as functions from a history to what went wrong.
//
// Each returns lines that say what differs, none when the promise holds; smallest_failure() then finds a short history
// that still fails.
//
//   History history = random_history(seed);
//   Lines wrong = equals_reference(make, history.events, history.now_ns, seed);
//   if (!wrong.empty()) FAIL() << print(smallest_failure(history.events, still_fails));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "property/engine.h"

namespace goodput::property {

using Events = std::vector<event::Event>;
using Lines = std::vector<std::string>;

/// 1 µs: figures pass through doubles of seconds.
constexpr double kToleranceSeconds = 1e-6;

/// All events at once, in log order: every figure is the reference's.
Lines cold_equals_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed);

/// Batches of any size in any order, asked in between: every answer is the reference's about what had arrived.
Lines every_poll_equals_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed);

/// The same, with the engine replaced by one made of its snapshot at random moments.
Lines resumed_equals_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed);

/// Random windows and exclusions, edges on events and beside them: the reference's totals, and they sum to elapsed.
Lines windows_equal_reference(const EngineMaker& make, const Events& events, int64_t now_ns, uint64_t seed);

/// Goodput and badput of `figures` are not negative and sum to elapsed_seconds.
Lines conservation(const Figures& figures);

/// A part of `events` that still fails and of which no single event can be left out.
Events smallest_failure(Events events, const std::function<bool(const Events&)>& fails);

/// One line per event, in log order.
std::string print(const Events& events);

}  // namespace goodput::property
