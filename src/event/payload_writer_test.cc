// SPDX-License-Identifier: Apache-2.0
#include "event/payload_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "event/payload.h"
#include "event/random_event_for_test.h"

namespace goodput::event {
namespace {

std::string written(const Event& event, PayloadOptions options = {}) {
  std::string line;
  PayloadWriter("j", options).append(line, event);
  return line;
}

TEST(PayloadWriterTest, ReadsBackAsTheSameEvent) {
  for (int kind = 1; kind <= static_cast<int>(kLastKind); ++kind) {
    RandomEvents events(static_cast<uint64_t>(kind));
    PayloadWriter writer("the \"job\"");
    PayloadReader reader;
    std::string line;
    for (int i = 0; i < 2'000; ++i) {
      const Event e = events.make(static_cast<Kind>(kind));
      line.clear();
      writer.append(line, e);
      const Payload& payload = reader.read(line);
      ASSERT_EQ(payload.verdict, Verdict::kEvent) << line;
      ASSERT_TRUE(payload.has_position) << line;
      ASSERT_EQ(payload.job, "the \"job\"") << line;
      ASSERT_EQ(described(payload.event), described(e)) << line;
      ASSERT_EQ(line.find('\n'), std::string::npos) << line;
    }
  }
}

TEST(PayloadWriterTest, EveryNanosecondIsKept) {
  PayloadReader reader;
  RandomEvents random(1);
  for (int64_t ns : {int64_t{0}, int64_t{1}, int64_t{999'999'999}, int64_t{1'767'225'600'000'000'001},
                     int64_t{1'767'225'600'100'000'000}, kMaxTimeNs - 1, kMaxTimeNs}) {
    EXPECT_EQ(reader.read(written({.time_ns = ns, .kind = Kind::kHeartbeat})).event.time_ns, ns);
  }
  for (int i = 0; i < 10'000; ++i) {
    const int64_t ns = random.number(0, kMaxTimeNs);
    ASSERT_EQ(reader.read(written({.time_ns = ns, .kind = Kind::kHeartbeat})).event.time_ns, ns);
  }
}

TEST(PayloadWriterTest, WritesWhatTheIncumbentWrites) {
  constexpr PayloadOptions kPlain{.with_position = false};
  constexpr int64_t kTimeNs = 1'767'225'725'118'000'000;
  EXPECT_EQ(written({.time_ns = kTimeNs, .step = 120, .kind = Kind::kStepStart}, kPlain),
            R"({"job_name":"j","step_count":120,"step_start_time":1767225725.118})");
  EXPECT_EQ(written({.time_ns = kTimeNs, .name = "eval", .kind = Kind::kCustomEnd}, kPlain),
            R"({"job_name":"j","custom_badput_event_type":"eval","custom_badput_event_end_time":1767225725.118})");
  EXPECT_EQ(written({.time_ns = 0, .kind = Kind::kJobStart}, kPlain), R"({"job_name":"j","job_start_time":0.0})");
  const Origin origin{.attempt_id = "a#2", .host = "node-1", .process_index = 3};
  EXPECT_EQ(written({.time_ns = kTimeNs, .position = {17, 4}, .origin = &origin, .kind = Kind::kHeartbeat}),
            R"({"job_name":"j","heartbeat_time":1767225725.118,"attempt_id":"a#2","process_index":3,)"
            R"("host":"node-1","sequence":"17-4"})");
}

TEST(PayloadWriterTest, WithoutAJobThereIsNoJobName) {
  std::string line;
  PayloadWriter("", {.with_position = false}).append(line, {.time_ns = 5, .kind = Kind::kJobStart});
  EXPECT_EQ(line, R"({"job_start_time":0.000000005})");
}

TEST(PayloadWriterTest, AnOriginThatSaysNothingIsStillAnOrigin) {
  const Origin nobody;
  PayloadReader reader;
  const Payload& payload = reader.read(written({.origin = &nobody, .kind = Kind::kHeartbeat}));
  ASSERT_NE(payload.event.origin, nullptr);
  EXPECT_EQ(payload.event.origin->process_index, 0);
}

TEST(PayloadWriterTest, OriginsThatShareTheirMemoryAreToldApart) {
  PayloadWriter writer("j", {.with_position = false});
  Origin origin{.attempt_id = "first"};
  std::string lines;
  writer.append(lines, {.origin = &origin, .kind = Kind::kHeartbeat});
  origin = {.attempt_id = "second"};
  writer.append(lines, {.origin = &origin, .kind = Kind::kHeartbeat});
  EXPECT_NE(lines.find("first"), std::string::npos);
  EXPECT_NE(lines.find("second"), std::string::npos);
}

TEST(PayloadWriterTest, BytesThatAreNotUtf8AreReplaced) {
  PayloadReader reader;
  const Payload& payload = reader.read(written({.name = "a\xff"
                                                        "b",
                                                .kind = Kind::kCustomStart}));
  EXPECT_EQ(payload.event.name,
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_FALSE(payload.repaired);
}

TEST(PayloadWriterTest, NumbersAreTheShortestThatReadTheSame) {
  const auto number = [](double value) {
    std::string text;
    append_number(text, value);
    return text;
  };
  EXPECT_EQ(number(4096), "4096");
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(1.5e300), "1.5e+300");
  EXPECT_EQ(number(HUGE_VAL), "1e999");
  EXPECT_EQ(number(-HUGE_VAL), "-1e999");
}

TEST(PayloadWriterTest, PositionsReadBack) {
  for (const Position position : {Position{}, Position{17, 4}, Position{UINT64_MAX, UINT64_MAX}}) {
    std::string text;
    append_position(text, position);
    Position read;
    ASSERT_TRUE(parse_position(text, read)) << text;
    EXPECT_EQ(read, position);
  }
}

}  // namespace
}  // namespace goodput::event
