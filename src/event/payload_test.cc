// SPDX-License-Identifier: Apache-2.0
#include "event/payload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "event/payload_writer.h"
#include "event/random_event_for_test.h"

namespace goodput::event {
namespace {

class PayloadTest : public ::testing::Test {
 protected:
  const Payload& read(std::string_view json) { return reader_.read(json); }

  Event event(std::string_view json) {
    const Payload& payload = reader_.read(json);
    EXPECT_EQ(payload.verdict, Verdict::kEvent) << json;
    return payload.event;
  }

  Flaw flaw(std::string_view json) {
    const Payload& payload = reader_.read(json);
    EXPECT_EQ(payload.verdict, Verdict::kMalformed) << json;
    return payload.flaw;
  }

  uint64_t fingerprint(std::string_view json) { return event(json).fingerprint; }

  PayloadReader reader_;
};

TEST_F(PayloadTest, EveryTimeKeyMakesItsKind) {
  for (size_t i = 0; i < kTimeKeys; ++i) {
    const std::string json = R"({"step_count": 7, "custom_badput_event_type": "Eval", ")" + std::string(kKeyNames[i]) +
                             R"(": 1767225600.25})";
    const Event e = event(json);
    EXPECT_EQ(e.kind, kTimeKinds[i]) << json;
    EXPECT_EQ(e.time_ns, 1'767'225'600'250'000'000) << json;
  }
}

TEST_F(PayloadTest, AmongSeveralTimeKeysTheFirstOfTheTableDecides) {
  std::string json =
      R"({"event_type": "save", "checkpoint_manager_blocking_duration_secs": 1, "step_count": 1, "custom_badput_event_type": "x")";
  for (size_t i = kTimeKeys; i-- > 0;) {
    json += ", \"" + std::string(kKeyNames[i]) + "\": " + std::to_string(i);
    const Kind want = i < index_of(Key::kAcceleratorInitStartTime) ? kTimeKinds[i] : Kind::kCheckpointSave;
    EXPECT_EQ(event(json + "}").kind, want) << json;
  }
}

TEST_F(PayloadTest, TimesAreTheDecimalsAsWritten) {
  const auto time_ns = [&](const std::string& number) {
    return event(R"({"heartbeat_time": )" + number + "}").time_ns;
  };
  EXPECT_EQ(time_ns("1767225725.123456789"), 1'767'225'725'123'456'789);
  EXPECT_EQ(time_ns("1767225725.1234567885"), 1'767'225'725'123'456'788);
  EXPECT_EQ(time_ns("1.767225725e9"), 1'767'225'725'000'000'000);
  EXPECT_EQ(time_ns("0"), 0);
  EXPECT_EQ(time_ns("4000000000"), kMaxTimeNs);
}

TEST_F(PayloadTest, TimesThatAreNoTimesAreFlaws) {
  for (const char* value : {"null", "true", "false", "\"1767225725\"", "NaN", "Infinity", "-Infinity", "-1", "-1e-30",
                            "4000000000.0000000001", "1e300", "1e400", "[1]", "{}"}) {
    EXPECT_EQ(flaw(std::string(R"({"job_start_time": )") + value + "}"), Flaw::kTime) << value;
  }
}

TEST_F(PayloadTest, StepNumbersAreIntegersHoweverWritten) {
  const auto step = [&](const std::string& number) {
    return event(R"({"step_start_time": 1, "step_count": )" + number + "}").step;
  };
  EXPECT_EQ(step("5"), 5);
  EXPECT_EQ(step("5.0"), 5);
  EXPECT_EQ(step("5e2"), 500);
  EXPECT_EQ(step("-3"), -3);
  EXPECT_EQ(step("\"12\""), 12);
  EXPECT_EQ(step("\"+12.0\""), 12);
  EXPECT_EQ(step("\"5.\""), 5);
  EXPECT_EQ(step("9007199254740992"), kMaxStep);
  EXPECT_EQ(step("-9007199254740992"), -kMaxStep);
  EXPECT_EQ(step("7." + std::string(400, '0')), 7);
}

TEST_F(PayloadTest, StepNumbersThatAreNoneAreFlaws) {
  for (const char* value : {"null", "true", "5.5", "\"x\"", "\"\"", "\" 5\"", "\"1e3\"", "\"5.5\"", "NaN",
                            "9007199254740993", "[5]", "1e400"}) {
    EXPECT_EQ(flaw(std::string(R"({"step_start_time": 1, "step_count": )") + value + "}"), Flaw::kStep) << value;
    EXPECT_EQ(flaw(std::string(R"({"step_end_time": 1, "step_count": )") + value + "}"), Flaw::kStep) << value;
  }
  EXPECT_EQ(flaw(R"({"step_start_time": 1})"), Flaw::kStep);
  EXPECT_EQ(flaw(R"({"step_start_time": null, "step_count": null})"), Flaw::kTime);
}

TEST_F(PayloadTest, CustomEventsNeedATextAndKeepItAsWritten) {
  EXPECT_EQ(event(R"({"custom_badput_event_start_time": 1, "custom_badput_event_type": "my \"Eval\""})").name,
            "my \"Eval\"");
  EXPECT_EQ(event(R"({"custom_badput_event_end_time": 1, "custom_badput_event_type": ""})").name, "");
  EXPECT_EQ(flaw(R"({"custom_badput_event_start_time": 1})"), Flaw::kCustomType);
  EXPECT_EQ(flaw(R"({"custom_badput_event_end_time": 1, "custom_badput_event_type": 3})"), Flaw::kCustomType);
}

TEST_F(PayloadTest, ElasticWaitsWithoutATextAreUnknown) {
  EXPECT_EQ(event(R"({"elastic_wait_start_time": 1, "elastic_wait_event_type": "elastic_Scale_Up"})").name,
            "elastic_Scale_Up");
  EXPECT_EQ(event(R"({"elastic_wait_end_time": 1, "elastic_wait_event_type": null})").name, "unknown");
  EXPECT_EQ(event(R"({"elastic_wait_end_time": 1})").name, "unknown");
}

TEST_F(PayloadTest, OrbaxStatisticsAreCheckpoints) {
  const Event save = event(
      R"({"job_name":"j","step":1000,"event_type":"save","directory":"gs://b/run","synchronous":false,)"
      R"("checkpoint_manager_blocking_start_time":1767226000.09,"checkpoint_manager_blocking_duration_secs":2.39})");
  EXPECT_EQ(save.kind, Kind::kCheckpointSave);
  EXPECT_EQ(save.time_ns, 1'767'226'000'090'000'000);
  EXPECT_EQ(save.duration_ns, 2'390'000'000);
  EXPECT_TRUE(save.has(kHasStep));
  EXPECT_EQ(save.step, 1000);
  ASSERT_NE(save.detail, nullptr);
  EXPECT_EQ(save.detail->location, "gs://b/run");
  const Event restore = event(R"({"event_type":"emergency_restore","step":null,"directory":null,)"
                              R"("checkpoint_manager_start_time":5,"checkpoint_manager_duration_secs":0})");
  EXPECT_EQ(restore.kind, Kind::kCheckpointRestore);
  EXPECT_TRUE(restore.has(kEmergency));
  EXPECT_FALSE(restore.has(kHasStep));
  EXPECT_EQ(restore.detail, nullptr);
}

TEST_F(PayloadTest, CheckpointsWithoutAStartAreUntimed) {
  for (const char* start : {"", R"("checkpoint_manager_start_time": null,)"}) {
    const Event e =
        event(std::string(R"({"event_type":"restore",)") + start + R"("checkpoint_manager_duration_secs":3})");
    EXPECT_TRUE(e.has(kUntimed));
    EXPECT_EQ(e.duration_ns, 3'000'000'000);
  }
  EXPECT_EQ(
      flaw(R"({"event_type":"restore","checkpoint_manager_start_time":true,"checkpoint_manager_duration_secs":3})"),
      Flaw::kTime);
  EXPECT_EQ(flaw(R"({"event_type":"restore","checkpoint_manager_start_time":5})"), Flaw::kDuration);
  EXPECT_EQ(flaw(R"({"event_type":"save","checkpoint_manager_blocking_duration_secs":1000000000.1})"), Flaw::kDuration);
  EXPECT_EQ(read(R"({"event_type":"delete","checkpoint_manager_duration_secs":3})").verdict, Verdict::kNotAnEvent);
}

TEST_F(PayloadTest, MarksCountOnlyWhenTheyAreTrue) {
  EXPECT_TRUE(event(R"({"job_end_time":1,"job_end_failed":true})").has(kFailed));
  EXPECT_FALSE(event(R"({"job_end_time":1,"job_end_failed":1})").has(kFailed));
  EXPECT_TRUE(event(R"({"data_loading_start_time":1,"blocking":true})").has(kBlocking));
  EXPECT_FALSE(event(R"({"data_loading_start_time":1,"blocking":"true"})").has(kBlocking));
  EXPECT_FALSE(event(R"({"data_loading_end_time":1,"blocking":true})").has(kBlocking));
}

TEST_F(PayloadTest, ExitsTellCodeOrSignalOrNothing) {
  struct Row {
    const char* keys;
    int flags;
    int value;
  };
  const std::vector<Row> table = {
      {R"("exit_code":0)", kCode, 0},
      {R"("exit_code":0.0)", kCode, 0},
      {R"("exit_code":137)", kCode, 137},
      {R"("exit_signal":9)", kSignal, 9},
      {R"("exit_code":137,"exit_signal":9)", kSignal, 9},
      {R"("exit_code":0,"exit_signal":9)", kCode, 0},
      {R"("exit_code":null,"exit_signal":15)", kSignal, 15},
      {R"("exit_code":false)", 0, 0},
      {R"("exit_code":0.5)", 0, 0},
      {R"("exit_code":"0")", 0, 0},
      {R"("exit_code":1e12)", 0, 0},
      {R"("role":"launcher")", 0, 0},
  };
  for (const Row& row : table) {
    const Event e = event(std::string(R"({"process_exit_time":1,)") + row.keys + "}");
    EXPECT_EQ(e.flags, row.flags) << row.keys;
    EXPECT_EQ(e.exit_value, row.value) << row.keys;
  }
}

TEST_F(PayloadTest, WorkSlicesAndDisruptionsCarryDetails) {
  const Event step = event(R"({"step_start_time":1,"step_count":2,"tokens":1e6,"flops":"x"})");
  ASSERT_NE(step.detail, nullptr);
  EXPECT_EQ(step.detail->tokens, 1e6);
  EXPECT_TRUE(std::isnan(step.detail->samples));
  EXPECT_TRUE(std::isnan(step.detail->flops));
  const Event slices = event(R"({"active_slices":3,"total_slices":4.0,"elastic_slice_counts_timestamp":1})");
  EXPECT_EQ(slices.detail->active_slices, 3);
  EXPECT_EQ(slices.detail->total_slices, 4);
  EXPECT_EQ(slices.detail->available_slices, 0);
  const Event disruption = event(R"({"disruption_time":1,"disruption_cause":"oom","disruption_detail":"rank 3"})");
  EXPECT_EQ(disruption.detail->cause, "oom");
  EXPECT_EQ(disruption.detail->text, "rank 3");
  EXPECT_EQ(event(R"({"step_start_time":1,"step_count":2})").detail, nullptr);
}

TEST_F(PayloadTest, IdentityMakesAnOrigin) {
  const Payload& p = read(
      R"({"heartbeat_time":1,"attempt_id":"a1","run_id":"r","process_index":3,"role":"launcher","host":"h","sequence":"1767225600-42"})");
  ASSERT_NE(p.event.origin, nullptr);
  EXPECT_EQ(p.event.origin->attempt_id, "a1");
  EXPECT_EQ(p.event.origin->run_id, "r");
  EXPECT_EQ(p.event.origin->process_index, 3);
  EXPECT_EQ(p.event.origin->role, "launcher");
  EXPECT_EQ(p.event.origin->host, "h");
  EXPECT_TRUE(p.has_position);
  EXPECT_EQ(p.event.position, (Position{1'767'225'600, 42}));
  EXPECT_EQ(event(R"({"heartbeat_time":1})").origin, nullptr);
}

TEST_F(PayloadTest, OnlyNumbersOtherThanZeroAreOtherRanks) {
  const auto index = [&](const std::string& value) {
    return event(R"({"heartbeat_time":1,"process_index":)" + value + "}").process_index();
  };
  for (const char* value : {"0", "0.0", "-0", "null", "false", "true", "\"1\"", "NaN"})
    EXPECT_EQ(index(value), 0) << value;
  for (const char* value : {"1", "0.5", "-2", "1e300", "-1e300"}) EXPECT_NE(index(value), 0) << value;
  EXPECT_EQ(index("1023"), 1023);
}

TEST_F(PayloadTest, SequencesOfAnotherShapeArePassedOver) {
  for (const char* value :
       {"1", "\"1\"", "\"1-\"", "\"-1\"", "\"1-2-3\"", "\"1-99999999999999999999\"", "\"a-b\"", "null"}) {
    EXPECT_FALSE(read(std::string(R"({"heartbeat_time":1,"sequence":)") + value + "}").has_position) << value;
  }
}

TEST_F(PayloadTest, EntriesWithoutAJobNameBelongToAnyJob) {
  EXPECT_TRUE(read(R"({"heartbeat_time":1})").is_of("j"));
  EXPECT_TRUE(read(R"({"heartbeat_time":1,"job_name":"j"})").is_of("j"));
  EXPECT_FALSE(read(R"({"heartbeat_time":1,"job_name":"k"})").is_of("j"));
  EXPECT_FALSE(read(R"({"heartbeat_time":1,"job_name":null})").is_of("j"));
  EXPECT_FALSE(read(R"({"heartbeat_time":1,"job_name":5})").is_of("5"));
  EXPECT_TRUE(read(R"({"heartbeat_time":1,"job_name":"job \"x\"/../\u00fc"})").is_of("job \"x\"/../ü"));
}

TEST_F(PayloadTest, UnknownKindsAreIgnoredAndOtherJsonIsCounted) {
  EXPECT_EQ(read("{}").verdict, Verdict::kNotAnEvent);
  EXPECT_EQ(read(R"({"job_name":"j","junk":1})").verdict, Verdict::kNotAnEvent);
  EXPECT_EQ(read(R"({"last_entry_timestamp":"2026-01-01T00:02:05+00:00","last_entry_id":"1a2b"})").verdict,
            Verdict::kNotAnEvent);
  for (const char* json : {"[]", "5", "\"text\"", "null", "[{\"job_start_time\":1}]"})
    EXPECT_EQ(flaw(json), Flaw::kNotAnObject) << json;
}

TEST_F(PayloadTest, EnvelopesAreToldFromPayloads) {
  EXPECT_EQ(read(R"({"insertId":"a","jsonPayload":{"job_start_time":1}})").verdict, Verdict::kEnvelope);
  EXPECT_EQ(read(R"({"ackId":"a","message":{"data":"e30="}})").verdict, Verdict::kEnvelope);
  EXPECT_EQ(read(R"({"messageId":"1","data":"e30="})").verdict, Verdict::kEnvelope);
  EXPECT_EQ(read(R"({"message":"hello"})").verdict, Verdict::kNotAnEvent);
  EXPECT_EQ(read(R"({"textPayload":"hello"})").verdict, Verdict::kNotAnEvent);
  EXPECT_EQ(read(R"({"job_start_time":1,"message":{}})").verdict, Verdict::kEvent);
}

TEST_F(PayloadTest, AnEnvelopeGivesTheJsonInsideIt) {
  read(
      R"({"insertId" : "a\u0062", "jsonPayload" : { "x": [{}], "job_start_time": 1 } , "timestamp": "2026-01-01T00:00:00Z"})");
  EXPECT_EQ(reader_.fields()[Key::kJsonPayload].text, R"({ "x": [{}], "job_start_time": 1 })");
  EXPECT_EQ(reader_.fields()[Key::kInsertId].text, "ab");
  read(R"({"jsonPayload":{}})");
  EXPECT_EQ(reader_.fields()[Key::kJsonPayload].text, "{}");
}

TEST_F(PayloadTest, WhatIsNotJsonIsAFlawWhereverItGoesWrong) {
  for (const char* json : {"",
                           " ",
                           "{",
                           "}",
                           "garbage",
                           R"({"job_start_time": 1)",
                           R"({"job_start_time": 1}})",
                           R"({"job_start_time": 1} {})",
                           R"({"job_start_time": 1} x)",
                           R"({"job_start_time": 1,})",
                           R"({"job_start_time" 1})",
                           R"({job_start_time: 1})",
                           R"({"job_start_time": 01})",
                           R"({"job_start_time": 1x})",
                           R"({"job_start_time": 1, "x": tru})",
                           R"({"job_start_time": 1, "x": })",
                           R"({"job_start_time": 1, "x": "\q"})",
                           R"({"job_start_time": 1, "x": [1 2]})",
                           R"({"job_start_time": 1, "x": [1,]})",
                           R"({"job_start_time": 1, "x": {"a"}})",
                           R"({"job_start_time": 1, "x": "a)",
                           "{\"job_start_time\": 1, \"x\": \"a\tb\"}",
                           R"({"job_start_time": 1 "x": 2})",
                           R"({'job_start_time': 1})",
                           R"({"job_start_time": 1, "x": nan})",
                           R"({"job_start_time": 1, "x": +1})"}) {
    EXPECT_EQ(flaw(json), Flaw::kNotAnObject) << json;
  }
  EXPECT_EQ(flaw(std::string("\0\0\0", 3)), Flaw::kNotAnObject);
}

TEST_F(PayloadTest, WhatPythonReadsIsRead) {
  EXPECT_EQ(event(R"({"x": NaN, "y": [Infinity, -Infinity], "job_start_time": 1})").kind, Kind::kJobStart);
  EXPECT_EQ(event(R"({"x": "\ud800", "\udfff": 1, "job_start_time": 1})").kind, Kind::kJobStart);
  EXPECT_EQ(event("  {\"job_start_time\"\t:\r 1 }\r\n").kind, Kind::kJobStart);
  EXPECT_EQ(event(R"({"job\u005fstart_time": 1})").kind, Kind::kJobStart);
  EXPECT_EQ(event(R"({"job_start_time": "x", "job_start_time": 2})").time_ns, 2 * kNanosecondsPerSecond);
  EXPECT_EQ(flaw(R"({"job_start_time": 2, "job_start_time": null})"), Flaw::kTime);
  EXPECT_EQ(event(R"({"nested": {"step_start_time": 1, "job_name": "k"}, "job_start_time": 1})").kind, Kind::kJobStart);
}

TEST_F(PayloadTest, BytesThatAreNoUtf8AreReplacedAndTold) {
  const Payload& p = read("{\"job_start_time\": 1, \"note\": \"a\xff\"}");
  EXPECT_EQ(p.verdict, Verdict::kEvent);
  EXPECT_TRUE(p.repaired);
  EXPECT_FALSE(read(R"({"job_start_time": 1, "note": "é"})").repaired);
  EXPECT_EQ(flaw("\xff\xfe\x80"), Flaw::kNotAnObject);
}

TEST_F(PayloadTest, DeepNestingIsRefusedAndShallowIsNot) {
  const auto nested = [](int depth, const char* open, const char* close) {
    std::string json = R"({"job_start_time": 1, "x": )";
    for (int i = 0; i < depth; ++i) json += open;
    json += "1";
    for (int i = 0; i < depth; ++i) json += close;
    return json + "}";
  };
  EXPECT_EQ(event(nested(400, "[", "]")).kind, Kind::kJobStart);
  EXPECT_EQ(event(nested(400, "{\"a\":", "}")).kind, Kind::kJobStart);
  EXPECT_EQ(flaw(nested(600, "[", "]")), Flaw::kTooDeep);
  EXPECT_EQ(flaw(nested(600, "{\"a\":", "}")), Flaw::kTooDeep);
  EXPECT_EQ(flaw(nested(1'000'000, "[", "]")), Flaw::kTooDeep);
}

TEST_F(PayloadTest, FingerprintsAreEqualForEqualValues) {
  const std::vector<std::vector<std::string>> groups = {
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25})",
       R"({"step_start_time": 1767225600.250, "step_count": 5.0, "job_name": "j"})",
       R"({"step_start_time":17672256002.5e-1,"job_name":"\u006a","step_count":1,"step_count":5e0})"},
      {R"({"job_name":"j","step_count":"5","step_start_time":1767225600.25})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":null})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":[1,{"a":1,"b":[true]}]})",
       R"({"x":[1.0,{"b":[true],"a":1}],"job_name":"j","step_count":5,"step_start_time":1767225600.25})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":[{"a":1,"b":[true]},1]})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":true})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":1})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":[1]})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":[[1]]})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":{}})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":[]})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":NaN})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":12345678901234567890123})",
       R"({"x":12345678901234567890.123e3,"job_name":"j","step_count":5,"step_start_time":1767225600.25})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":12345678901234567890124})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25,"x":-1})"},
      {R"({"job_name":"j","step_count":5,"step_start_time":1767225600.26})"},
  };
  std::vector<uint64_t> seen;
  for (const auto& group : groups) {
    const uint64_t first = fingerprint(group[0]);
    for (const std::string& json : group) EXPECT_EQ(fingerprint(json), first) << json;
    for (const uint64_t other : seen) EXPECT_NE(other, first) << group[0];
    seen.push_back(first);
  }
}

TEST_F(PayloadTest, TheSameFingerprintOnEveryMachine) {
  EXPECT_EQ(fingerprint(R"({"job_name":"j","step_count":5,"step_start_time":1767225600.25})"),
            16'102'016'886'409'957'431U);
}

/// The same value with an escape in it, which the short way of reading does not take.
std::string with_an_escape(const std::string& json) {
  const size_t letter = json.find('"') + 1;
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(json[letter]));
  return json.substr(0, letter) + escape + json.substr(letter + 1);
}

TEST_F(PayloadTest, TheShortWayAndTheLongWayReadAlike) {
  std::vector<std::string> entries = {
      R"({"job_name":"j","job_start_time":1.5})",
      R"( { "job_name" : "j" , "step_count" : 5 , "step_start_time" : 1767225600.25 } )",
      R"({"a":{},"b":[],"c":[1,"x",null,[true,{"d":-1.50e3}]],"heartbeat_time":7})",
      R"({"heartbeat_time":1,"heartbeat_time":2,"x":1,"x":{"y":1,"y":2}})",
      R"({"jsonPayload":{"job_name":"j","job_end_time":3},"timestamp":"2026-01-01T00:00:00Z","logName":"l"})",
      R"({"data":"e30=","messageId":"7"})",
      R"({"tokens":123456789012345678901234567890,"step_count":1.0,"step_end_time":0.0000000001})",
      R"({"long_key_that_is_not_known_at_all":"and a long text that is not known either","job_start_time":1})",
      R"({"x":tru,"job_start_time":1})",
      R"({"x":01,"job_start_time":1})",
      R"({"x":1,,"job_start_time":1})",
      R"({"x":[1,],"job_start_time":1})",
      R"({"x":1,})",
      R"({"x"})",
      R"({"x":1}})",
      R"({"x":1} {})",
      R"({"x":nullx})",
      R"({"x":-})",
      R"({"x":1.})",
      R"({"x":"unfinished)",
      R"({"x":[1})",
      R"({"x":{"y":1]})",
      R"({"x":1)"};
  RandomEvents random(5);
  PayloadWriter writer("j");
  for (int i = 0; i < 3'000; ++i) writer.append(entries.emplace_back(), random.make());
  PayloadReader other;
  for (const std::string& entry : entries) {
    const Payload& is = reader_.read(entry);
    const std::string escaped = with_an_escape(entry);
    const Payload& want = other.read(escaped);
    ASSERT_EQ(is.verdict, want.verdict) << entry;
    ASSERT_EQ(is.flaw, want.flaw) << entry;
    ASSERT_EQ(is.job, want.job) << entry;
    ASSERT_EQ(is.event.fingerprint, want.event.fingerprint) << entry;
    ASSERT_EQ(described(is.event), described(want.event)) << entry;
    ASSERT_EQ(reader_.fields().present(), other.fields().present()) << entry;
    for (size_t key = 0; key < kKeys; ++key) {
      const FieldValue& value = reader_.fields()[static_cast<Key>(key)];
      const FieldValue& same = other.fields()[static_cast<Key>(key)];
      ASSERT_EQ(value.type, same.type) << entry;
      if (value.is_text()) {
        ASSERT_EQ(value.text, same.text) << entry;
      }
    }
  }
}

TEST_F(PayloadTest, AfterAGiantEntryReadingGoesOn) {
  const std::string giant = R"({"x":")" + std::string(3 << 20, 'x') + R"(","job_start_time":1})";
  EXPECT_EQ(event(giant).kind, Kind::kJobStart);
  EXPECT_EQ(event(with_an_escape(giant)).kind, Kind::kJobStart);
  EXPECT_EQ(event(R"({"job_end_time":2})").kind, Kind::kJobEnd);
}

}  // namespace
}  // namespace goodput::event
