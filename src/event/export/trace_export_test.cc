// SPDX-License-Identifier: Apache-2.0
#include "event/export/trace_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event/random_event_for_test.h"

namespace goodput::event {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int64_t kSecond = kNanosecondsPerSecond;
constexpr int64_t kStart = 1'767'225'600 * kSecond;

/// A trace read back, and held against the rules of the format as Perfetto applies them.
class CheckedTrace {
 public:
  explicit CheckedTrace(const std::string& text) : root_(json::parse(text)) {
    EXPECT_EQ(text.find("{\"displayTimeUnit\":\"ms\",\"traceEvents\":["), 0U);
    for (const json& e : root_.at("traceEvents")) check(e);
    for (auto& [track, slices] : slices_) check_nesting(track, slices);
  }

  const json& other() const { return root_.at("otherData"); }

  /// "name from-to" of every slice of a track, in microseconds; instants as "name at".
  std::vector<std::string> on(const std::string& process, const std::string& track) const {
    std::vector<std::string> found;
    for (const json& e : root_.at("traceEvents")) {
      const auto id = id_of(e);
      const char phase = phase_of(e);
      if (phase == 'M' || phase == 'C' || processes_.at(id.first) != process || tracks_.at(id) != track) continue;
      const int64_t ts = e.at("ts");
      const std::string times = phase == 'X'
                                    ? std::to_string(ts) + "-" + std::to_string(ts + e.at("dur").get<int64_t>())
                                    : std::to_string(ts);
      found.push_back(e.at("name").get<std::string>() + " " + times);
    }
    return found;
  }

  std::vector<std::string> tracks_of(const std::string& process) const {
    std::vector<std::string> names;
    for (const auto& [id, name] : tracks_) {
      if (processes_.at(id.first) == process) names.push_back(name);
    }
    return names;
  }

  std::vector<std::string> processes() const {
    std::vector<std::string> names;
    for (const auto& [id, name] : processes_) names.push_back(name);
    return names;
  }

  /// The arguments of the first event with a name.
  json args_of(const std::string& name) const {
    for (const json& e : root_.at("traceEvents")) {
      if (e.at("name") == name && e.contains("args")) return e.at("args");
    }
    return {};
  }

 private:
  using Id = std::pair<uint64_t, uint64_t>;

  static Id id_of(const json& e) { return {e.at("pid").get<uint64_t>(), e.at("tid").get<uint64_t>()}; }
  static char phase_of(const json& e) { return e.at("ph").get<std::string>().at(0); }

  void check(const json& e) {
    const Id id = id_of(e);
    ASSERT_LE(std::max(id.first, id.second), UINT32_MAX);
    ASSERT_FALSE(e.at("name").get<std::string>().empty()) << e;
    const char phase = phase_of(e);
    if (phase == 'M') return check_metadata(id, e);
    ASSERT_TRUE(processes_.contains(id.first) && tracks_.contains(id)) << "used before it is named: " << e;
    ASSERT_TRUE(e.at("ts").is_number_integer()) << e;
    const int64_t ts = e.at("ts");
    ASSERT_GE(ts, 0) << e;
    ASSERT_LT(ts, int64_t{1} << 53) << e;
    if (phase == 'X') {
      const int64_t duration = e.at("dur");
      ASSERT_GE(duration, 0) << e;
      slices_[id].emplace_back(ts, ts + duration);
    } else if (phase == 'i') {
      ASSERT_EQ(e.at("s"), "t") << e;
      slices_[id].emplace_back(ts, ts);  // as Perfetto takes one of a track
    } else {
      ASSERT_EQ(phase, 'C') << e;
      ASSERT_FALSE(e.at("args").empty()) << e;
      for (const json& value : e.at("args")) ASSERT_TRUE(value.is_number()) << e;
    }
  }

  void check_metadata(Id id, const json& e) {
    if (e.at("name") == "process_name") {
      ASSERT_TRUE(processes_.emplace(id.first, e.at("args").at("name")).second) << "named twice: " << e;
    } else if (e.at("name") == "thread_name") {
      ASSERT_TRUE(tracks_.emplace(id, e.at("args").at("name")).second) << "named twice: " << e;
      ASSERT_TRUE(ids_.insert(id.second).second) << "one id for two: " << e;
    } else {
      ASSERT_TRUE(e.at("args").at("sort_index").is_number_integer()) << e;
    }
  }

  /// Slices of a track lie beside or inside each other.
  void check_nesting(Id track, std::vector<std::pair<int64_t, int64_t>>& slices) {
    std::ranges::stable_sort(slices, {}, &std::pair<int64_t, int64_t>::first);
    std::vector<int64_t> ends;
    for (const auto& [from, to] : slices) {
      while (!ends.empty() && ends.back() <= from) ends.pop_back();
      ASSERT_TRUE(ends.empty() || to <= ends.back()) << tracks_[track] << ": " << from << " to " << to;
      ends.push_back(to);
    }
  }

  json root_;
  std::map<uint64_t, std::string> processes_;
  std::map<Id, std::string> tracks_;
  std::set<uint64_t> ids_;
  std::map<Id, std::vector<std::pair<int64_t, int64_t>>> slices_;
};

class TraceExportTest : public ::testing::Test {
 protected:
  void add(double seconds, Kind kind, Event event = {}) {
    event.time_ns = kStart + static_cast<int64_t>(seconds * 1e9);
    event.kind = kind;
    events_.push_back(event);
  }

  CheckedTrace exported() const {
    TraceExport trace("llama \"7b\"");
    std::string text;
    trace.begin(text);
    for (const Event& event : events_) trace.append({&event, 1}, text);
    trace.finish(text);
    return CheckedTrace(text);
  }

  std::vector<Event> events_;
};

TEST_F(TraceExportTest, StepsAreSlicesFromOneToTheNext) {
  add(0, Kind::kJobStart);
  add(1, Kind::kStepStart, {.step = 5});
  add(1.5, Kind::kStepStart, {.step = 6});
  add(2, Kind::kStepEnd, {.step = 6});
  add(2.5, Kind::kStepStart, {.step = 7});
  add(4, Kind::kJobEnd);
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.on("attempt 0", "steps"),
              ElementsAre("step 5 1000000-1500000", "step 6 1500000-2500000", "step 7 2500000-4000000"));
  EXPECT_THAT(trace.on("attempt 0", "attempt"), ElementsAre("job start 0", "job end 4000000", "attempt 0 0-4000000"));
  EXPECT_EQ(trace.args_of("step 6"), json({{"step", 6}, {"host_side_us", 500'000}}));
  EXPECT_EQ(trace.args_of("step time"), json({{"seconds", 0.5}}));
  EXPECT_EQ(trace.args_of("step 7"), json({{"step", 7}, {"unfinished", true}}));
  EXPECT_EQ(trace.other(), json({{"job", "llama \"7b\""}, {"start", "2026-01-01T00:00:00.000000000Z"}}));
}

TEST_F(TraceExportTest, TheLastStepEndsWhereTheHostSaysSo) {
  add(0, Kind::kStepStart, {.step = 1});
  add(2, Kind::kStepEnd, {.step = 1});
  add(9, Kind::kHeartbeat);
  EXPECT_THAT(exported().on("attempt 0", "steps"), ElementsAre("step 1 0-2000000"));
}

TEST_F(TraceExportTest, EndsBelongToTheLatestStartOfTheirKindAndName) {
  add(0, Kind::kCustomStart, {.name = "a"});
  add(1, Kind::kCustomStart, {.name = "b"});
  add(2, Kind::kCustomStart, {.name = "a"});
  add(3, Kind::kCustomEnd, {.name = "a"});
  add(4, Kind::kCustomEnd, {.name = "b"});
  add(5, Kind::kCustomEnd, {.name = "a"});
  add(6, Kind::kCustomEnd, {.name = "a"});
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.on("attempt 0", "custom events"), ElementsAre("a 0-5000000", "a, end without a start 6000000"));
  EXPECT_THAT(trace.on("attempt 0", "custom events 2"), ElementsAre("b 1000000-4000000"));
  EXPECT_THAT(trace.on("attempt 0", "custom events 3"), ElementsAre("a 2000000-3000000"));
}

TEST_F(TraceExportTest, WhatNeverEndsIsClosedAtTheLastThatIsKnownOfItsProcess) {
  add(0, Kind::kDataLoadingStart, {.flags = kBlocking});
  add(3, Kind::kHeartbeat);
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.on("attempt 0", "data loading"), ElementsAre("data loading 0-3000000"));
  EXPECT_EQ(trace.args_of("data loading"), json({{"blocking", true}, {"unfinished", true}}));
  EXPECT_THAT(trace.on("attempt 0", "heartbeats"), ElementsAre("alive 3000000"));
}

TEST_F(TraceExportTest, WithoutIdsAJobStartBeginsAnAttempt) {
  add(0, Kind::kAcceleratorInitStart);  // a stray entry before the start
  add(1, Kind::kJobStart);
  add(2, Kind::kStepStart, {.step = 1});
  add(9, Kind::kJobStart);
  add(10, Kind::kStepStart, {.step = 1});
  add(11, Kind::kHeartbeat);
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.processes(), ElementsAre("attempt 0", "attempt 1"));
  EXPECT_THAT(trace.on("attempt 0", "steps"), ElementsAre("step 1 2000000-2000000"));
  EXPECT_THAT(trace.on("attempt 1", "steps"), ElementsAre("step 1 10000000-11000000"));
}

TEST_F(TraceExportTest, EveryRankOfEveryAttemptIsAProcess) {
  const Origin first{.attempt_id = "a", .host = "h0"};
  const Origin second{.attempt_id = "b", .host = "h0"};
  const Origin rank{.attempt_id = "b", .process_index = 3};
  const Origin launcher{.attempt_id = "a", .role = "launcher", .host = "h0"};
  add(0, Kind::kJobStart, {.origin = &first});
  add(1, Kind::kProcessExit, {.origin = &launcher, .exit_value = 9, .flags = kSignal});
  add(2, Kind::kJobStart, {.origin = &second});
  add(3, Kind::kJobStart, {.origin = &rank});
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.processes(), ElementsAre("attempt 0, rank 0 on h0", "attempt 0, launcher on h0",
                                             "attempt 1, rank 0 on h0", "attempt 1, rank 3"));
  EXPECT_THAT(trace.on("attempt 0, launcher on h0", "attempt"),
              ElementsAre("killed by signal 9 1000000", "attempt 0 1000000-1000000"));
}

TEST_F(TraceExportTest, CheckpointsShareATrackWhereTheyDoNotOverlap) {
  const Detail detail{.location = "gs://b"};
  add(0, Kind::kCheckpointSaveStart);
  add(1, Kind::kCheckpointSaveEnd);
  add(1, Kind::kCheckpointSave, {.step = 9, .duration_ns = 2 * kSecond, .detail = &detail, .flags = kHasStep});
  add(2, Kind::kCheckpointSave, {.duration_ns = kSecond});
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.on("attempt 0", "checkpoint save"),
              ElementsAre("checkpoint save 0-1000000", "checkpoint save 1000000-3000000"));
  EXPECT_THAT(trace.on("attempt 0", "checkpoint save 2"), ElementsAre("checkpoint save 2000000-3000000"));
}

TEST_F(TraceExportTest, SlicesAndWorkAreCounters) {
  const Detail counts{.active_slices = 3, .total_slices = 4, .available_slices = 2};
  Detail work;
  work.tokens = 4096;
  add(0, Kind::kSliceCounts, {.detail = &counts});
  add(1, Kind::kStepStart, {.step = 1, .detail = &work});
  add(2, Kind::kStepStart, {.step = 2});
  const CheckedTrace trace = exported();
  EXPECT_EQ(trace.args_of("slices"), json({{"active", 3}, {"available", 2}, {"total", 4}}));
  EXPECT_EQ(trace.args_of("work of a step"), json({{"tokens", 4096}}));
  EXPECT_EQ(trace.args_of("step 1"), json({{"step", 1}, {"tokens", 4096}}));
}

TEST_F(TraceExportTest, WithoutEventsItIsATraceAllTheSame) { EXPECT_THAT(exported().processes(), IsEmpty()); }

TEST_F(TraceExportTest, AnyEventsInAnyOrderMakeAValidTrace) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomEvents random(seed);
    events_.clear();
    for (int i = 0; i < 400; ++i) {
      Event& e = events_.emplace_back(random.make());
      e.time_ns = kStart + random.number(0, 1'000'000);  // a thousand microseconds: much falls together
      e.duration_ns %= 100'000;
    }
    if (seed % 4 != 0) std::ranges::stable_sort(events_, {}, &Event::time_ns);
    exported();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
}

TEST_F(TraceExportTest, NoMoreThanSoManyAreOpenAtOnce) {
  for (int i = 0; i < 4'100; ++i) add(i, Kind::kCustomStart, {.name = "x"});
  const CheckedTrace trace = exported();
  EXPECT_THAT(trace.on("attempt 0", "custom events"), ElementsAre("x 0-4096000000", "x 4096000000-4099000000"));
}

}  // namespace
}  // namespace goodput::event
