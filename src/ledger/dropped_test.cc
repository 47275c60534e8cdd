// A log whose beginning the disk budget has dropped: what was accounted stands.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "ledger/ledger.h"

namespace goodput::ledger {
namespace {

using event::Event;
using event::Kind;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'767'225'600 * kSecond;

/// Events in memory, of which the oldest may be dropped.
class Log final : public event::Source {
 public:
  Status read(int64_t from_ns, int64_t to_ns, Sink sink) override {
    std::vector<Event> range;
    for (const Event& event : events_) {
      if (event.time_ns >= std::max(from_ns, oldest_ns_) && event.time_ns < to_ns) range.push_back(event);
    }
    std::sort(range.begin(), range.end(), [](const Event& a, const Event& b) {
      return std::pair(a.time_ns, a.position) < std::pair(b.time_ns, b.position);
    });
    sink(range);
    return {};
  }
  [[nodiscard]] int64_t oldest_ns() const override { return oldest_ns_; }

  Event add(Kind kind, int64_t after_ns, int64_t step = 0) {
    Event event;
    event.kind = kind;
    event.time_ns = kStart + after_ns;
    event.step = step;
    event.position = {0, events_.size()};
    return events_.emplace_back(event);
  }
  void drop_before(int64_t after_ns) { oldest_ns_ = kStart + after_ns; }

 private:
  std::vector<Event> events_;
  int64_t oldest_ns_ = std::numeric_limits<int64_t>::min();
};

class Dropped : public testing::Test {
 protected:
  static constexpr int64_t kSteps = 60'000;

  Dropped() : ledger_({}, log_) {
    std::vector<Event> events = {log_.add(Kind::kJobStart, 0)};
    for (int64_t step = 0; step < kSteps; ++step) {
      events.push_back(log_.add(Kind::kStepStart, (step + 1) * kSecond + step * 7919 % 1'000'000, step));
    }
    ledger_.push(events);
    before_ = overview();
    log_.drop_before(kSteps / 2 * kSecond);
  }
  Overview overview() { return ledger_.overview(kStart + (kSteps + 1) * kSecond).value(); }
  static int64_t too_late(const Overview& overview) {
    return overview.findings[static_cast<size_t>(FindingKind::kTooLate)].count;
  }
  void expect_same_totals(const Overview& after) {
    EXPECT_EQ(after.whole.elapsed_ns, before_.whole.elapsed_ns);
    EXPECT_EQ(after.whole.totals.ns, before_.whole.totals.ns);
    EXPECT_EQ(after.preserved_steps, before_.preserved_steps);
    EXPECT_EQ(after.last_step, before_.last_step);
  }

  Log log_;
  Ledger ledger_;
  Overview before_;
};

TEST_F(Dropped, WhatWasAccountedStands) { expect_same_totals(overview()); }

TEST_F(Dropped, EventsForWhatIsGoneComeTooLate) {
  const Event gone = log_.add(Kind::kCustomStart, 100 * kSecond + 1);
  ledger_.push({&gone, 1});
  const Overview after = overview();
  EXPECT_EQ(too_late(after), 1);
  expect_same_totals(after);
}

TEST_F(Dropped, SoDoEventsForAStretchThatIsGoneInPart) {
  for (int64_t second = kSteps / 2; second < kSteps / 2 + 10'000; second += 100) {
    const Event late = log_.add(Kind::kHeartbeat, second * kSecond + 500'000'000);
    ledger_.push({&late, 1});
  }
  const Overview after = overview();
  EXPECT_GT(too_late(after), 0);
  EXPECT_LT(too_late(after), 100);
  expect_same_totals(after);
}

// 20,000 events late at once: no late events but a log out of order.
TEST_F(Dropped, ARebuildKeepsTheAccountOfWhatIsGone) {
  std::vector<Event> late;
  for (int64_t i = 0; i < 20'000; ++i) {
    late.push_back(log_.add(Kind::kHeartbeat, (kSteps - 25'000 + i) * kSecond + 500'000'000));
  }
  ledger_.push(late);
  expect_same_totals(overview());
}

}  // namespace
}  // namespace goodput::ledger
