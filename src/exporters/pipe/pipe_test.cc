// SPDX-License-Identifier: Apache-2.0
#include "exporters/pipe/pipe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace goodput::exporters {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr PipeOptions kQuick{.first_retry_ns = kMillisecond, .last_retry_ns = 4 * kMillisecond};

/// What a sink was given, and what it answers.
struct Sink {
  std::function<Status(const Update&)> answer = [](const Update&) { return Status(); };
  std::function<int64_t()> pause_ns = [] { return int64_t{0}; };
  std::mutex mutex;
  std::vector<StepPoint> steps;
  std::vector<StatusChange> changes;
  int64_t last_step = -1;  ///< of the latest report
  Figures figures;         ///< of the latest update
  bool takes_steps = true;
  bool is_off = false;
  int64_t retry_after_ns = 0;
  std::atomic<bool> is_cancelled = false;

  Status take(const Update& update) {
    Status status = answer(update);
    const std::lock_guard lock(mutex);
    if (!status.ok()) return status;
    steps.insert(steps.end(), update.steps.begin(), update.steps.end());
    changes.insert(changes.end(), update.status_changes.begin(), update.status_changes.end());
    last_step = update.report.last_step.value_or(-1);
    figures = update.figures;
    return status;
  }
};

class SinkExporter final : public Exporter {
 public:
  explicit SinkExporter(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {}
  [[nodiscard]] std::string name() const override { return "sink"; }
  Status send(const Update& update) override { return sink_->take(update); }
  [[nodiscard]] int64_t pause_ns() const override { return sink_->pause_ns(); }
  [[nodiscard]] bool takes_steps() const override { return sink_->takes_steps; }
  [[nodiscard]] int64_t retry_after_ns() const override { return sink_->retry_after_ns; }
  [[nodiscard]] uint64_t rejected() const override { return 3; }
  [[nodiscard]] bool is_off() const override { return sink_->is_off; }
  void cancel() override { sink_->is_cancelled = true; }

 private:
  std::shared_ptr<Sink> sink_;
};

Update update_of(int64_t step) {
  Update update;
  update.report.last_step = step;
  update.steps = {{step, 0.5}};
  return update;
}

std::vector<StepPoint> points(int64_t from, int64_t to) {
  std::vector<StepPoint> out;
  for (int64_t step = from; step < to; ++step) out.push_back({step, 0.5});
  return out;
}

TEST(Pipe, EverythingOfferedIsSentInOrder) {
  const auto sink = std::make_shared<Sink>();
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  for (int64_t step = 0; step < 100; ++step) pipe.offer(update_of(step));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(sink->steps, points(0, 100));
  EXPECT_EQ(sink->last_step, 99);
  EXPECT_EQ(pipe.counters().offered, 100U);
  EXPECT_EQ(pipe.counters().failed, 0U);
  EXPECT_FALSE(pipe.counters().is_waiting);
}

TEST(Pipe, WhatComesWhileTheSinkIsToBeLeftAloneJoinsAndIsNotLost) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<int64_t> pause_ns = 50 * kMillisecond;
  std::atomic<int> sends = 0;
  sink->pause_ns = [&] { return pause_ns.exchange(0); };
  sink->answer = [&](const Update&) { return ++sends, Status(); };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  for (int64_t step = 0; step < 100; ++step) pipe.offer(update_of(step));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(sends.load(), 1);
  EXPECT_EQ(sink->steps, points(0, 100));
  EXPECT_EQ(sink->last_step, 99);
}

TEST(Pipe, SinkThatIsToBeLeftAloneGetsTheLastWordInTimeAndNoOther) {
  const auto sink = std::make_shared<Sink>();
  sink->pause_ns = [] { return 60'000 * kMillisecond; };
  std::atomic<int> sends = 0;
  sink->answer = [&](const Update&) { return ++sends, Status(); };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(sends.load(), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(pipe.finish(400 * kMillisecond));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
  EXPECT_EQ(sends.load(), 1);
}

TEST(Pipe, SinkIsSentNothingOnceThereIsNoTime) {
  const auto sink = std::make_shared<Sink>();
  sink->pause_ns = [] { return 60'000 * kMillisecond; };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  EXPECT_FALSE(pipe.finish(0));
  EXPECT_TRUE(sink->steps.empty());
}

TEST(Pipe, WhatItHoldsIsLetGoOfWithTheExporter) {
  const auto sink = std::make_shared<Sink>();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick, std::move(held));
  pipe.offer(update_of(1));
  EXPECT_FALSE(seen.expired());
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_TRUE(seen.expired());
}

TEST(Pipe, WhatASinkDidNotTakeComesAgainWithWhatIsNew) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<int> refusals = 3;
  sink->answer = [&](const Update&) {
    return refusals-- > 0 ? Status(StatusCode::kUnavailable, "sending: connection refused") : Status();
  };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  for (int64_t step = 0; step < 10; ++step) pipe.offer(update_of(step));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(sink->steps, points(0, 10));
  EXPECT_EQ(pipe.counters().failed, 3U);
  EXPECT_EQ(pipe.counters().given_up, 0U);
  EXPECT_EQ(pipe.counters().last_failure, "");
}

TEST(Pipe, WhatASinkRefusesForGoodIsGivenUpAndCounted) {
  const auto sink = std::make_shared<Sink>();
  sink->answer = [](const Update&) { return Status(StatusCode::kInvalidArgument, "sending: 400"); };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(pipe.counters().given_up, 1U);
  EXPECT_EQ(pipe.counters().last_failure, "sending: 400");
}

TEST(Pipe, SinkThatIsOffNeitherSucceedsNorFailsNorWaits) {
  const auto sink = std::make_shared<Sink>();
  sink->is_off = true;
  sink->answer = [](const Update&) { return Status(StatusCode::kInvalidArgument, "no sink"); };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  const PipeCounters counters = pipe.counters();
  EXPECT_EQ(counters.sent + counters.failed + counters.given_up, 0U);
  EXPECT_EQ(counters.last_success_ns, 0);
  EXPECT_EQ(counters.last_failure, "");
}

TEST(Pipe, AHangingSinkDelaysNobodyAndIsLeftBehind) {
  const auto sink = std::make_shared<Sink>();
  const auto is_open = std::make_shared<std::atomic<bool>>(false);
  sink->answer = [is_open](const Update&) {
    while (!*is_open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Status();
  };
  const auto begin = std::chrono::steady_clock::now();
  {
    Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
    for (int64_t step = 0; step < 1000; ++step) pipe.offer(update_of(step));
    EXPECT_FALSE(pipe.finish(50 * kMillisecond));
    EXPECT_TRUE(pipe.counters().is_waiting);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  *is_open = true;
}

TEST(Pipe, WhatWaitsIsAboutTheFiguresOfAll) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<bool> is_open = false;
  sink->answer = [&](const Update&) {
    return is_open ? Status() : Status(StatusCode::kUnavailable, "sending: connection refused");
  };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  Update update = update_of(1);
  update.figures = {.windows = false, .steps = false, .ideal_step_seconds = 2.0};
  pipe.offer(update);
  update.figures = {.goodput = false, .badput = false, .windows = false};
  pipe.offer(update);
  is_open = true;
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(sink->figures, (Figures{.windows = false, .ideal_step_seconds = 2.0}));
}

TEST(Pipe, AHangingSinkThatCanBeCancelledHasEndedWithinTheBound) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<int> sends = 0;
  sink->answer = [&](const Update&) {
    ++sends;
    while (!sink->is_cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --sends;
    return Status(StatusCode::kUnavailable, "sending: it was given up");
  };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  while (sends == 0) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(pipe.finish(1'000 * kMillisecond));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1'500));
  EXPECT_EQ(sends, 0);
  EXPECT_TRUE(pipe.counters().is_waiting);
}

TEST(Pipe, WhyItFailedIsNotForgottenWhenTheLastCallIsCancelled) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<int> sends = 0;
  sink->answer = [&, raw = sink.get()](const Update&) {
    if (++sends == 1) return Status(StatusCode::kUnavailable, "sending: a right is missing");
    while (!raw->is_cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Status(StatusCode::kUnavailable, "sending: it was given up");
  };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  EXPECT_FALSE(pipe.finish(1'000 * kMillisecond));
  EXPECT_EQ(sends.load(), 2);
  EXPECT_EQ(pipe.counters().last_failure, "sending: a right is missing");
}

TEST(Pipe, WhoAsksToBeLeftAloneIsLeftAlone) {
  const auto sink = std::make_shared<Sink>();
  sink->retry_after_ns = 300 * kMillisecond;
  std::atomic<int> refusals = 1;
  sink->answer = [&](const Update&) {
    return refusals-- > 0 ? Status(StatusCode::kUnavailable, "sending: 429") : Status();
  };
  const auto begin = std::chrono::steady_clock::now();
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  pipe.offer(update_of(1));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
  EXPECT_EQ(pipe.counters().failed, 1U);
}

TEST(Pipe, ChangesOfStateAreAllKeptWhileNothingGoesOut) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<bool> is_open = false;
  sink->answer = [&](const Update&) {
    return is_open ? Status() : Status(StatusCode::kUnavailable, "sending: connection refused");
  };
  Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
  std::vector<StatusChange> all;
  for (int64_t i = 0; i < 20; ++i) {
    Update update = update_of(i);
    update.status_changes = {{.time_ns = i, .number = static_cast<uint64_t>(i)}};
    all.push_back(update.status_changes[0]);
    pipe.offer(update);
  }
  is_open = true;
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(sink->changes, all);
}

TEST(Pipe, ForWhoTakesNoStepsNoneAreKeptAndNoneCountAsDropped) {
  const auto sink = std::make_shared<Sink>();
  sink->takes_steps = false;
  PipeOptions options = kQuick;
  options.max_steps = 1;
  Pipe pipe(std::make_unique<SinkExporter>(sink), options);
  for (int64_t step = 0; step < 50; ++step) pipe.offer(update_of(step));
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_TRUE(sink->steps.empty());
  EXPECT_EQ(sink->last_step, 49);
  EXPECT_EQ(pipe.counters().dropped_steps, 0U);
  EXPECT_EQ(pipe.counters().rejected, 3U);
}

TEST(Pipe, CountersAreReadAlsoWhenItIsGone) {
  const auto sink = std::make_shared<Sink>();
  std::function<PipeCounters()> counters;
  {
    Pipe pipe(std::make_unique<SinkExporter>(sink), kQuick);
    counters = pipe.counters_reader();
    pipe.offer(update_of(1));
    EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  }
  EXPECT_EQ(counters().offered, 1U);
  EXPECT_EQ(counters().sent, 1U);
}

TEST(Pipe, StepsThatWaitTooLongAreDroppedOldestFirstAndCounted) {
  const auto sink = std::make_shared<Sink>();
  std::atomic<bool> is_open = false;
  sink->answer = [&](const Update&) {
    return is_open ? Status() : Status(StatusCode::kUnavailable, "sending: connection refused");
  };
  PipeOptions options = kQuick;
  options.max_steps = 10;
  Pipe pipe(std::make_unique<SinkExporter>(sink), options);
  for (int64_t step = 0; step < 50; ++step) pipe.offer(update_of(step));
  is_open = true;
  EXPECT_TRUE(pipe.finish(10'000 * kMillisecond));
  EXPECT_EQ(sink->steps, points(40, 50));
  EXPECT_EQ(sink->last_step, 49);
  EXPECT_EQ(pipe.counters().dropped_steps, 40U);
}

}  // namespace
}  // namespace goodput::exporters
