// Random histories meet every rule: a rule that none of them touches is a rule that no comparison checks.
// SPDX-License-Identifier: Apache-2.0
#include "reference/histories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "reference/accounting.h"

namespace goodput::reference {
namespace {

using event::Event;
using event::Kind;

constexpr uint64_t kHistories = 2'000;

using Counts = std::map<std::string, int>;

void count_findings(const Findings& findings, bool ids, Counts& met) {
  met["untimed entry before any time"] += findings.malformed_entries > 0;
  met["redelivery"] += findings.redelivered_entries > 0;
  met[ids ? "clock skew by attempt id" : "clock skew by log order"] += findings.clock_skew > 0;
  met["two writers"] += findings.two_writers > 0;
  met["unclosed event"] += findings.unclosed_events > 0;
  met["too many open events"] += findings.too_many_open_events > 0;
  met["overlapping attempts"] += findings.overlapping_attempts > 0;
}

void count_disruptions(const Accounting& job, Counts& met) {
  for (const DisruptionRecord& record : job.disruptions) {
    met[record.rollback ? "rollback" : "restart"]++;
    met["planned disruption"] += record.planned;
    met["disruption after a completed end"] += record.completed_end;
    met["steps wasted"] += record.steps_wasted > 0;
    met["stalled before death"] += record.stalled_ns > 0;
    met["never recovered"] += !record.recovery_ns;
    met["clean resume that outlives the last event"] += record.recovery_by_class_ns.contains("PRODUCTIVE");
    met["restart before any step"] += !record.rollback && !record.last_step;
  }
}

void count_log(const History& history, Counts& met) {
  std::map<int64_t, int> at_instant;
  for (const Event& event : history.events) {
    at_instant[event.time_ns]++;
    met["untimed entry"] += event.has(event::kUntimed);
    met["negative step"] += event.kind == Kind::kStepStart && event.step < 0;
    met["failed end"] += event.has(event::kFailed) && event.kind == Kind::kJobEnd;
    met["exit by signal"] += event.kind == Kind::kProcessExit && event.has(event::kSignal);
    met["entry of another rank"] += event.process_index() != 0;
  }
  met["five events at one instant"] +=
      std::any_of(at_instant.begin(), at_instant.end(), [](auto& a) { return a.second >= 5; });
  met["a thousand events"] += history.events.size() >= 1'000;
  met["at most 200 events"] += history.events.size() <= 200;
}

/// Leaving out all events of a kind changes the answer: the rule about that kind was at work.
void count_matters(const History& history, const Accounting& job, Kind kind, const std::string& name, Counts& met) {
  History without;
  without.events = history.events;
  if (std::erase_if(without.events, [&](const Event& event) { return event.kind == kind; }) == 0) return;
  const auto other = account(without.events, {.now_ns = history.now_ns});
  if (!other) return;
  const Totals a = totals(job, job.figures.start_ns, job.figures.end_ns, {});
  const Totals b = totals(*other, job.figures.start_ns, job.figures.end_ns, {});
  met[name] += a.by_class_ns != b.by_class_ns;
}

Counts meet_histories() {
  Counts met;
  for (uint64_t seed = 1; seed <= kHistories; ++seed) {
    const History history = random_history(seed);
    const auto job = account(history.events, {.now_ns = history.now_ns});
    if (!job) continue;
    count_log(history, met);
    count_findings(job->findings, history.attempt_ids, met);
    count_disruptions(*job, met);
    constexpr const char* kStatus[] = {"running", "completed", "failed", "died"};
    for (const AttemptRecord& attempt : job->attempts) met[kStatus[static_cast<size_t>(attempt.status)]]++;
    met["attempt without a step"] +=
        std::any_of(job->attempts.begin(), job->attempts.end(), [](auto& a) { return !a.first_step; });
    for (const Piece& piece : job->pieces) {
      met[std::string(piece.class_name)]++;
      met["custom name (MORE)"] += piece.custom_name == "(MORE)";
      met["fraction of a nanosecond"] += denominator(piece.end_ns) != 1;
    }
    met["asynchronous loading"] += job->figures.async_data_loading_ns > 0;
    met["slice counts"] += slice_efficiency(*job, job->figures.start_ns, job->figures.end_ns).has_value();
    count_matters(history, *job, Kind::kStepEnd, "step end believed", met);
    count_matters(history, *job, Kind::kHeartbeat, "heartbeat matters", met);
  }
  return met;
}

TEST(RandomHistories, MeetEveryRule) {
  const Counts met = meet_histories();
  // The two that take thousands of events, or hundreds of names, are rare on purpose.
  const std::set<std::string> rare = {"too many open events", "custom name (MORE)"};
  for (const auto& [what, times] : met) EXPECT_GE(times, rare.contains(what) ? 1 : 20) << what;
  EXPECT_EQ(met.size(), 51u);
}

TEST(RandomHistories, AreTheSameForTheSameSeed) {
  const History one = random_history(7), again = random_history(7), other = random_history(8);
  ASSERT_EQ(one.events.size(), again.events.size());
  EXPECT_EQ(one.now_ns, again.now_ns);
  EXPECT_NE(one.now_ns, other.now_ns);
  for (size_t k = 0; k < one.events.size(); ++k) {
    EXPECT_EQ(one.events[k].time_ns, again.events[k].time_ns);
    EXPECT_EQ(one.events[k].position, again.events[k].position);
    EXPECT_EQ(one.events[k].fingerprint, again.events[k].fingerprint);
  }
}

TEST(RandomHistories, GiveRedeliveriesTheirFingerprintAndNothingElse) {
  int copies = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const History history = random_history(seed);
    std::map<uint64_t, const Event*> first;
    for (const Event& event : history.events) {
      const auto [known, is_new] = first.emplace(event.fingerprint, &event);
      if (is_new) continue;
      ++copies;
      EXPECT_EQ(known->second->kind, event.kind);
      EXPECT_EQ(known->second->time_ns, event.time_ns);
      EXPECT_EQ(known->second->name, event.name);
      EXPECT_NE(known->second->position, event.position);
    }
  }
  EXPECT_GT(copies, 50);
}

}  // namespace
}  // namespace goodput::reference
