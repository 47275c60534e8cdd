// Seeded random logs of jobs that restart, roll back, hang, lie about the time and repeat themselves.
//
// Everything that docs/semantics.md rules on is in some of them; `coverage` tests of their own see to that. The same
// seed gives the same history on every machine.
//
//   History history = random_history(17);
//   auto job = account(history.events, {.now_ns = history.now_ns});
//   std::vector<event::Event> arrival = shuffled(history.events, 3);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "event/event.h"

namespace goodput::reference {

struct History {
  History() = default;
  History(History&&) = default;
  History& operator=(History&&) = default;

  std::vector<event::Event> events;  ///< in log order; their text lives in the three lists below
  int64_t now_ns = 0;
  bool attempt_ids = false;  ///< attempts carry identities, as the product's own journals do
  std::deque<std::string> strings;
  std::deque<event::Origin> origins;
  std::deque<event::Detail> details;
};

/// Mostly 20 to 200 events, now and then 1,000 to 3,000 or more.
History random_history(uint64_t seed);

/// The same events in another order of arrival.
std::vector<event::Event> shuffled(const std::vector<event::Event>& events, uint64_t seed);

/// Random numbers that are the same everywhere, unlike those of <random>'s distributions.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}

  uint64_t next();
  /// In [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In [0, n), n > 0.
  uint64_t below(uint64_t n) { return next() % n; }
  bool happens(double probability) { return real() < probability; }
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace goodput::reference
