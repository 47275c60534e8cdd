// Redelivery, disorder and positions of random histories.
// SPDX-License-Identifier: Apache-2.0
#include "reference/log_faults.h"

#include <algorithm>
#include <utility>

namespace goodput::reference {
namespace {

using event::Event;
using event::Kind;

/// Moves a copy of an untimed entry to the edge of what counts as a redelivery.
void spread_copies(History& history, Chance& chance) {
  std::vector<Event>& log = history.events;
  for (size_t k = 0; k < log.size(); ++k) {
    if (!log[k].has(event::kUntimed) || !chance.happens(0.7)) continue;
    const uint64_t distance = chance.one_of<uint64_t>({16'384, 16'385});
    const auto is_copy = [&](const Event& event) { return event.fingerprint == log[k].fingerprint; };
    const auto copy = std::find_if(log.begin() + static_cast<std::ptrdiff_t>(k) + 1, log.end(), is_copy);
    if (copy == log.end() || copy->position.minor - log[k].position.minor >= distance) continue;
    const uint64_t more = distance - (copy->position.minor - log[k].position.minor);
    std::for_each(copy, log.end(), [&](Event& event) { event.position.minor += more; });
  }
}

}  // namespace

void redeliver(History& history, Chance& chance) {
  std::vector<Event>& log = history.events;
  const auto place_of = [&](size_t k) { return log.begin() + static_cast<std::ptrdiff_t>(k); };
  const auto copy = [&](size_t from) {
    const Event event = log[from];
    log.insert(place_of(from + 1 + chance.below(log.size() - from)), event);
  };
  for (size_t k = 0; k < 1 + chance.below(6); ++k) copy(chance.below(log.size()));
  const auto untimed = std::find_if(log.begin(), log.end(), [](const Event& e) { return e.has(event::kUntimed); });
  if (untimed == log.end()) return;
  const auto from = static_cast<size_t>(untimed - log.begin());
  for (size_t k = 0; k < 2; ++k) copy(from);
}

void disorder(History& history, Chance& chance) {
  std::vector<Event>& log = history.events;
  const double share = chance.one_of({0.02, 0.1, 0.3});
  const bool starts_too = chance.happens(0.15);
  const auto moves = [&](const Event& event) { return starts_too || event.kind != Kind::kJobStart; };
  for (size_t k = 0; k + 1 < log.size(); ++k) {
    if (moves(log[k]) && moves(log[k + 1]) && chance.happens(share)) std::swap(log[k], log[k + 1]);
  }
  for (size_t k = 0; chance.happens(0.4) && k < 4; ++k) {
    const size_t from = chance.below(log.size());
    if (!moves(log[from])) continue;
    const Event moved = log[from];
    log.erase(log.begin() + static_cast<std::ptrdiff_t>(from));
    log.insert(log.begin() + static_cast<std::ptrdiff_t>(chance.below(log.size() + 1)), moved);
  }
}

void number(History& history, Chance& chance) {
  uint64_t place = 0;
  const double gap = chance.happens(0.2) ? 0.05 : 0;
  for (Event& event : history.events) {
    place += chance.happens(gap) ? chance.one_of<uint64_t>({2, 16'384, 16'385}) : 1;
    event.position = {0, place};
    if (!history.attempt_ids) continue;
    event.flags &= static_cast<uint8_t>(~event::kUntimed);
    event.position.major = static_cast<uint64_t>(event.time_ns);
  }
  if (!history.attempt_ids) return spread_copies(history, chance);
  std::sort(history.events.begin(), history.events.end(),
            [](const Event& a, const Event& b) { return a.position < b.position; });
}

}  // namespace goodput::reference
