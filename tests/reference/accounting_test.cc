// What must hold of the reference's answers whatever the log says.
// SPDX-License-Identifier: Apache-2.0
#include "reference/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "reference/histories.h"

namespace goodput::reference {
namespace {

constexpr uint64_t kHistories = 1'000;

void for_each_job(const std::function<void(const Accounting&)>& check) {
  for (uint64_t seed = 1; seed <= kHistories; ++seed) {
    const History history = random_history(seed);
    const auto job = account(history.events, {.now_ns = history.now_ns});
    if (!job) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(*job);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Accounting, PiecesTileTheJobExactly) {
  for_each_job([](const Accounting& job) {
    Rational at = job.figures.start_ns;
    for (const Piece& piece : job.pieces) {
      EXPECT_EQ(piece.start_ns, at);
      EXPECT_GT(piece.end_ns, piece.start_ns);
      at = piece.end_ns;
    }
    EXPECT_EQ(at, Rational(job.figures.end_ns));
  });
}

TEST(Accounting, WastedTimeOfDisruptionsSumsToWastedProgress) {
  for_each_job([](const Accounting& job) {
    Rational wasted = 0;
    for (const DisruptionRecord& record : job.disruptions) wasted += record.wasted_ns;
    Totals all = totals(job, job.figures.start_ns, job.figures.end_ns, {});
    EXPECT_EQ(wasted, all.by_class_ns["WASTED_PROGRESS"]);
  });
}

TEST(Accounting, EveryDisruptionHasARecordAndRecoveryIsTiled) {
  for_each_job([](const Accounting& job) {
    EXPECT_EQ(job.figures.disruptions, static_cast<int64_t>(job.disruptions.size()));
    for (const DisruptionRecord& record : job.disruptions) {
      Rational recovered = 0;
      for (const auto& [name, time] : record.recovery_by_class_ns) recovered += time;
      EXPECT_EQ(recovered, Rational(record.recovery_ns.value_or(0)));
      EXPECT_EQ(record.recovery_ns.has_value(), record.resume_step.has_value());
      EXPECT_GE(record.steps_wasted, 0);
    }
  });
}

TEST(Accounting, WindowsSideBySideSumToTheWhole) {
  for_each_job([](const Accounting& job) {
    const Figures& figures = job.figures;
    const Rational middle = Rational(2 * Rational(figures.start_ns) + figures.end_ns) / 3;
    const Totals whole = totals(job, figures.start_ns, figures.end_ns, {});
    Totals left = totals(job, 0, middle, {});
    for (const auto& [name, time] : totals(job, middle, event::kMaxTimeNs, {}).by_class_ns)
      left.by_class_ns[name] += time;
    EXPECT_EQ(left.by_class_ns, whole.by_class_ns);
    EXPECT_EQ(sum(whole), whole.elapsed_ns);
  });
}

TEST(Accounting, ExclusionsTakeAwayTheirUnion) {
  for_each_job([](const Accounting& job) {
    const int64_t start = job.figures.start_ns, end = job.figures.end_ns, length = end - start;
    const Intervals excluded = {{start + length / 2, end + kSecond},
                                {start + length / 4, start + length / 2 + length / 8},
                                {end, start},
                                {start, start}};
    const Totals kept = totals(job, start, end, excluded);
    const Totals head = totals(job, start, start + length / 4, {});
    EXPECT_EQ(kept.elapsed_ns, head.elapsed_ns);
    EXPECT_EQ(kept.by_class_ns, head.by_class_ns);
  });
}

// An export holds of each attempt's liveness the last heartbeat, and a journal no more than that.
TEST(Accounting, OnlyTheLastHeartbeatOfAnAttemptCounts) {
  int left_out = 0;
  for (uint64_t seed = 1; seed <= kHistories; ++seed) {
    const History history = random_history(seed);
    if (!history.attempt_ids) continue;
    const auto id_of = [](const event::Event& event) {
      return event.kind == event::Kind::kHeartbeat && event.origin != nullptr ? event.origin->attempt_id : "";
    };
    std::map<std::string_view, int64_t> last;
    for (const event::Event& event : history.events) last[id_of(event)] = std::max(last[id_of(event)], event.time_ns);
    std::vector<event::Event> exported = history.events;
    std::erase_if(exported,
                  [&](const auto& event) { return !id_of(event).empty() && event.time_ns < last[id_of(event)]; });
    left_out += exported.size() < history.events.size() ? 1 : 0;
    const auto job = account(history.events, {.now_ns = history.now_ns}),
               again = account(exported, {.now_ns = history.now_ns});
    ASSERT_EQ(job.has_value(), again.has_value());
    if (!job || !again) continue;
    EXPECT_EQ(totals(*job, 0, event::kMaxTimeNs, {}).by_class_ns, totals(*again, 0, event::kMaxTimeNs, {}).by_class_ns)
        << seed;
    EXPECT_EQ(job->findings.overlapping_attempts, again->findings.overlapping_attempts) << seed;
  }
  EXPECT_GT(left_out, 30);
}

TEST(Accounting, NothingRecordedIsNoJob) {
  EXPECT_FALSE(account({}, {.now_ns = kSecond}).has_value());
  const event::Event annotation{.time_ns = kSecond, .kind = event::Kind::kDisruption};
  EXPECT_FALSE(account({&annotation, 1}, {.now_ns = 2 * kSecond}).has_value());
}

}  // namespace
}  // namespace goodput::reference
