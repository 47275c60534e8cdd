// Writer and reader of Cloud Logging against the server that enforces its limits.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "event/payload.h"
#include "gcp/fake_google.h"
#include "google_server.h"
#include "journal/job_log.h"
#include "store/cloud_logging/log_mirror.h"
#include "store/cloud_logging/log_reader.h"
#include "store/cloud_logging/log_writer.h"

namespace goodput::store {
namespace {

using event::Event;
using event::Kind;
using testing::HasSubstr;
using Json = nlohmann::json;

constexpr int64_t kSecond = 1'000'000'000;

class CloudLogging : public testing::Test {
 protected:
  /// Steps of one attempt, one a second, the last of them now.
  std::vector<Event> steps(int64_t from, int64_t to) const {
    std::vector<Event> events;
    for (int64_t step = from; step < to; ++step) {
      const int64_t time_ns = start_ns_ + step * kSecond;
      events.push_back({.time_ns = time_ns,
                        .position = {.major = static_cast<uint64_t>(time_ns), .minor = static_cast<uint64_t>(step)},
                        .step = step,
                        .kind = Kind::kStepStart});
    }
    return events;
  }
  std::unique_ptr<CloudLogWriter> writer(const std::string& job = "j") {
    return std::move(CloudLogWriter::open(options_, job, "")).value();
  }
  std::unique_ptr<CloudLogReader> reader(const std::string& job = "j", const std::string& cursor = "") {
    return std::move(CloudLogReader::open(options_, job, {.cursor = cursor})).value();
  }
  /// What a poll gives, by its step.
  static std::vector<int64_t> poll(CloudLogReader& reader, Status* status = nullptr) {
    std::vector<int64_t> steps;
    const Status done = reader.poll([&](const LogRecord& record) {
      steps.push_back(Json::parse(record.payload).value("step_count", int64_t{-1}));
    });
    EXPECT_TRUE(done.ok() || status != nullptr) << done.message();
    if (status != nullptr) *status = done;
    return steps;
  }
  static std::vector<int64_t> range(int64_t from, int64_t to) {
    std::vector<int64_t> all;
    for (int64_t i = from; i < to; ++i) all.push_back(i);
    return all;
  }
  Json state() { return Json::parse(google_.control("GET", "state")); }
  void fault(const std::string& json) { google_.control("POST", "faults", json); }

  GoogleServer google_;
  CloudLogOptions options_{.address = {.project = "p", .log = "goodput_a/b"}, .environment = google_.environment()};
  int64_t start_ns_ = wall_time_ns() - 10'000 * kSecond;
};

TEST_F(CloudLogging, WhatIsWrittenIsReadAsTheSameEvents) {
  std::vector<Event> events = steps(0, 2500);
  events[7].time_ns += 123'456'789;  // what a double of seconds cannot hold
  const WriteOutcome outcome = writer()->write(events);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_EQ(outcome.done, 2500U);
  EXPECT_EQ(outcome.refused, 0U);
  const Json entry = state()["entries"][0];
  EXPECT_EQ(entry["logName"], "projects/p/logs/goodput_a%2Fb");
  EXPECT_EQ(entry["severity"], "INFO");
  EXPECT_EQ(entry["resource"]["type"], "global");

  size_t count = 0;
  event::PayloadReader payloads;
  const auto log = reader();
  ASSERT_TRUE(log->poll([&](const LogRecord& record) {
                   const event::Payload& payload = payloads.read(record.payload);
                   EXPECT_EQ(payload.verdict, event::Verdict::kEvent);
                   EXPECT_TRUE(payload.is_of("j"));
                   EXPECT_EQ(payload.event.step, events[count].step);
                   EXPECT_EQ(payload.event.position, events[count].position);
                   EXPECT_NEAR(static_cast<double>(payload.event.time_ns - events[count].time_ns), 0, 300);
                   ++count;
                 })
                  .ok());
  EXPECT_EQ(count, 2500U);
  EXPECT_TRUE(poll(*log).empty());
}

TEST_F(CloudLogging, WhatIsSentAgainIsFoundOnce) {
  const auto log = writer();
  EXPECT_TRUE(log->write(steps(0, 10)).status.ok());
  EXPECT_TRUE(log->write(steps(0, 12)).status.ok());
  EXPECT_EQ(state()["entries"].size(), 22U);
  EXPECT_EQ(poll(*reader()), range(0, 12));
}

TEST_F(CloudLogging, LostAnswerAndPartialFailureLoseAndDoubleNothing) {
  const std::vector<Event> events = steps(0, 20);
  for (const char* trouble : {R"({"path":"entries:write","kind":"lost_answer","times":1})",
                              R"({"path":"entries:write","kind":"partial","indexes":[3,7],"times":1})",
                              R"({"path":"entries:write","kind":"status","status":429,"times":1})",
                              R"({"path":"entries:write","kind":"reset","times":1})",
                              R"({"path":"entries:write","kind":"garbage","times":1})"}) {
    SCOPED_TRACE(trouble);
    fault(trouble);
    const auto log = writer();
    const WriteOutcome first = log->write(events);
    EXPECT_EQ(first.status.code(), StatusCode::kUnavailable);
    EXPECT_EQ(first.done, 0U);
    const WriteOutcome second = log->write(std::span(events).subspan(first.done));
    EXPECT_TRUE(second.status.ok()) << second.status.message();
    EXPECT_EQ(second.done, 20U);
  }
  EXPECT_EQ(poll(*reader()), range(0, 20));
}

TEST_F(CloudLogging, EntryThatTheServiceRefusesIsCountedAndTheRestWritten) {
  std::vector<Event> events = steps(0, 5);
  events[2].time_ns = wall_time_ns() + 48 * 3600 * kSecond;
  events[2].position.major = static_cast<uint64_t>(events[2].time_ns);
  const std::string long_name(300'000, 'x');
  events[3].kind = Kind::kCustomStart;
  events[3].name = long_name;
  const WriteOutcome outcome = writer()->write(events);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_EQ(outcome.done, 5U);
  EXPECT_EQ(outcome.refused, 2U);
  EXPECT_THAT(outcome.refusal, HasSubstr("24 hours in the future"));
  EXPECT_EQ(poll(*reader()), (std::vector<int64_t>{0, 1, 4}));
}

TEST_F(CloudLogging, MissingRightEndsTheWritingAndNothingIsPassedOver) {
  google_.control("POST", "set", R"({"denied": ["logging.logEntries.create", "logging.logEntries.list"]})");
  const WriteOutcome outcome = writer()->write(steps(0, 3));
  EXPECT_EQ(outcome.status.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(outcome.status.message(), HasSubstr("logging.logEntries.create"));
  EXPECT_EQ(outcome.done, 0U);
  Status status;
  EXPECT_TRUE(poll(*reader(), &status).empty());
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
}

TEST_F(CloudLogging, LateEntryIsGivenOnceHoweverOldItsTimestamp) {
  EXPECT_TRUE(writer()->write(steps(100, 200)).status.ok());
  const auto log = reader();
  EXPECT_EQ(poll(*log), range(100, 200));
  EXPECT_TRUE(writer()->write(steps(0, 3)).status.ok());  // spilled while the service was out of reach
  EXPECT_EQ(poll(*log), range(0, 3));
  EXPECT_TRUE(poll(*log).empty());
}

TEST_F(CloudLogging, ReaderThatStartsAgainGoesOnAtItsCursor) {
  EXPECT_TRUE(writer()->write(steps(0, 50)).status.ok());
  const auto first = reader();
  EXPECT_EQ(poll(*first).size(), 50U);
  EXPECT_TRUE(writer()->write(steps(50, 60)).status.ok());
  EXPECT_EQ(poll(*reader("j", first->cursor())), range(50, 60));
  EXPECT_EQ(CloudLogReader::open(options_, "j", {.cursor = "{}"}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(CloudLogging, EmptyPagesAndBrokenPassesLoseAndDoubleNothing) {
  EXPECT_TRUE(writer()->write(steps(0, 3500)).status.ok());
  google_.control("POST", "set", R"({"logging.empty_pages": 2})");
  const auto log = reader();
  EXPECT_EQ(poll(*log), range(0, 3500));

  // The quota ends the pass after its second page; the next one goes on from there.
  google_.control("POST", "set", R"({"logging.lists_per_minute": 8})");
  const auto broken = reader();
  Status status;
  std::vector<int64_t> got = poll(*broken, &status);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(broken->retry_after_ns(), 60 * kSecond);
  EXPECT_EQ(got, range(0, 2000));
  google_.control("POST", "set", R"({"logging.lists_per_minute": 60})");
  EXPECT_EQ(poll(*reader("j", broken->cursor())), range(2000, 3500));
}

TEST_F(CloudLogging, JobsOfOneLogAreToldApartWhateverTheirNames) {
  const std::string evil = R"(x" OR jsonPayload.job_name!="\)";
  EXPECT_TRUE(writer(evil)->write(steps(0, 2)).status.ok());
  EXPECT_TRUE(writer("other")->write(steps(5, 7)).status.ok());
  EXPECT_EQ(poll(*reader(evil)), range(0, 2));
  EXPECT_EQ(poll(*reader("other")), range(5, 7));
}

TEST_F(CloudLogging, JobOlderThanTheLogsMemoryIsReportedAsSuch) {
  EXPECT_TRUE(writer()->write(steps(0, 5)).status.ok());
  const auto whole = reader();
  (void)poll(*whole);
  EXPECT_FALSE(whole->may_be_cut_off());
  const auto cut = std::move(CloudLogReader::open(options_, "j", {.retention_ns = 20'000 * kSecond})).value();
  EXPECT_EQ(poll(*cut), range(0, 5));
  EXPECT_TRUE(cut->may_be_cut_off());
}

TEST_F(CloudLogging, WhatTheIncumbentWroteIsReadAlike) {
  // As its client sends it over REST: severity as a number, snake_case, no insertId.
  HttpClient client({.timeout_ns = 10 * kSecond, .uses_proxy = false});
  const std::string entry =
      R"({"logName":"projects/p/logs/goodput_a/b","resource":{"type":"k8s_container","labels":{"project_id":"p","location":"l","cluster_name":"c"}},)"
      R"("severity":200,"labels":{"python_logger":"x"},"json_payload":{"job_name":"j","step_count":5,"step_start_time":1767225600.25}})";
  const std::string url = *google_.environment()("GOODPUT_LOGGING_ENDPOINT") + "/v2/entries:write?prettyPrint=false";
  const HttpAnswer answer =
      client.send({.method = "POST",
                   .url = url,
                   .headers = {{"Content-Type", "application/json"}},
                   .body = R"({"entries":[)" + entry + R"(],"partialSuccess":true,"dry_run":false})"});
  ASSERT_TRUE(answer.ok()) << answer.body;
  EXPECT_EQ(poll(*reader()), range(5, 6));
}

TEST(CloudLoggingAnswers, MetadataServerThatIsNotReadyDoesNotDecideWhereEntriesBelong) {
  const std::string metadata = "GET /computeMetadata/v1/instance/";
  gcp::FakeGoogle google;
  google.with_header("Metadata-Flavor: Google\r\n");
  google.on(metadata + "service-accounts/default/token", 200, R"({"access_token":"t","expires_in":3600})");
  google.on(metadata + "zone", 503, "");
  google.on(metadata + "zone", 200, "projects/12/zones/us-east5-a");
  google.on(metadata + "id", 200, "987654321");
  google.on("POST /v2/entries:write", 200, "{}");
  const auto log = CloudLogWriter::open({.address = {"p", "log"},
                                         .environment = gcp::variables({{"GOODPUT_LOGGING_ENDPOINT", google.url("")},
                                                                        {"GOOGLE_CLOUD_PROJECT", "p"},
                                                                        {"GCE_METADATA_HOST", google.host()},
                                                                        {"HOME", "/nonexistent"}})},
                                        "j", "");
  ASSERT_TRUE(log.ok());
  const std::vector<Event> events = {{.time_ns = wall_time_ns(), .step = 1, .kind = Kind::kStepStart}};
  const WriteOutcome early = (*log)->write(events);
  EXPECT_EQ(early.status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(early.done, 0U);
  EXPECT_EQ(google.count("POST /v2/entries:write"), 0U);
  EXPECT_EQ((*log)->write(events).done, 1U);
  EXPECT_THAT(google.last_body("POST /v2/entries:write"),
              HasSubstr(R"("resource":{"type":"gce_instance","labels":{"project_id":"p","instance_id":"987654321",)"
                        R"("zone":"us-east5-a"}})"));
}

TEST(CloudLoggingAnswers, EntryThatNestsDeeplyDoesNoHarm) {
  constexpr size_t kDepth = 200'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  gcp::FakeGoogle google;
  google.on("POST /v2/entries:list", 200,
            R"({"entries":[{"timestamp":"2026-01-01T00:00:00Z","insertId":"a","jsonPayload":{"step_count":1,"x":)" +
                deep + R"(}},{"timestamp":"2026-01-01T00:00:01Z","insertId":"b","jsonPayload":{"step_count":2}}]})");
  const auto log = CloudLogReader::open(
      {.address = {"p", "log"},
       .environment = gcp::variables(
           {{"GOODPUT_LOGGING_ENDPOINT", google.url("")}, {"NO_GCE_CHECK", "true"}, {"HOME", "/nonexistent"}})},
      "j", {});
  ASSERT_TRUE(log.ok());
  std::vector<int64_t> steps;
  EXPECT_TRUE((*log)
                  ->poll([&](const LogRecord& record) {
                    EXPECT_LT(record.payload.size(), 1'000U);
                    steps.push_back(Json::parse(record.payload).at("step_count"));
                  })
                  .ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2}));
}

/// What the copies of a log hold of job "j", by steps, as a reader sees it who follows them.
class Mirrored : public CloudLogging {
 protected:
  std::unique_ptr<LogMirror> mirror(const std::string& job = "j") {
    return std::move(LogMirror::open(posix_file_system(), {{.path = folder_.path()}}, options_, job, {})).value();
  }
  static std::vector<int64_t> take(journal::JobLog& log) {
    std::vector<int64_t> steps;
    EXPECT_TRUE(log.poll([&](std::span<const Event> events) {
                     for (const Event& event : events) steps.push_back(event.step);
                     return true;
                   })
                    .ok());
    return steps;
  }
  static std::unique_ptr<journal::JobLog> follow(const LogMirror& mirror, const std::string& run_id = "") {
    return std::move(journal::JobLog::open(posix_file_system(), {mirror.root()}, "j", run_id, system_clock())).value();
  }

  TemporaryFolder folder_;
};

TEST_F(Mirrored, WhatIsNewIsAddedForReadersThatFollow) {
  EXPECT_TRUE(writer()->write(steps(100, 2600)).status.ok());
  const auto first = mirror();
  ASSERT_TRUE(first->update().ok());
  const auto log = follow(*first);
  EXPECT_EQ(take(*log), range(100, 2600));

  EXPECT_TRUE(writer()->write(steps(0, 3)).status.ok());  // late ones
  EXPECT_TRUE(writer()->write(steps(2600, 2605)).status.ok());
  ASSERT_TRUE(mirror()->update().ok());  // another process, which goes on
  EXPECT_EQ(take(*log), (std::vector<int64_t>{0, 1, 2, 2600, 2601, 2602, 2603, 2604}));
  ASSERT_TRUE(first->update().ok());  // and the first one again
  EXPECT_TRUE(take(*log).empty());
  std::vector<int64_t> all;
  ASSERT_TRUE(log->read(0, start_ns_ + 4 * kSecond,
                        [&](std::span<const Event> events) {
                          for (const Event& event : events) all.push_back(event.step);
                          return true;
                        })
                  .ok());
  EXPECT_EQ(all, range(0, 3));
}

TEST_F(Mirrored, PlacesAndFingerprintsAreTheLogsSoThatWhatIsThereTwiceCountsOnce) {
  EXPECT_TRUE(writer()->write(steps(0, 10)).status.ok());
  const auto made = mirror();
  ASSERT_TRUE(made->update().ok());
  std::remove((made->root().path + "/place").c_str());
  ASSERT_TRUE(mirror()->update().ok());
  std::map<std::pair<uint64_t, event::Position>, int> seen;
  const auto log = follow(*made);
  ASSERT_TRUE(log->poll([&](std::span<const Event> events) {
                   for (const Event& event : events) ++seen[{event.fingerprint, event.position}];
                   return true;
                 })
                  .ok());
  EXPECT_EQ(seen.size(), 10U);
  for (const auto& [identity, count] : seen) {
    EXPECT_NE(identity.first, 0U);
    EXPECT_EQ(count, 2);
  }
}

TEST_F(Mirrored, AFailureOnTheWayLosesNothing) {
  EXPECT_TRUE(writer()->write(steps(0, 3500)).status.ok());
  google_.control("POST", "set", R"({"logging.lists_per_minute": 2})");
  const auto made = mirror();
  EXPECT_EQ(made->update().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(made->has_progressed());
  EXPECT_EQ(made->retry_after_ns(), 60 * kSecond);
  const auto log = follow(*made);
  EXPECT_EQ(take(*log), range(0, 2000));
  google_.control("POST", "set", R"({"logging.lists_per_minute": 60})");
  ASSERT_TRUE(mirror()->update().ok());
  EXPECT_EQ(take(*log), range(2000, 3500));
}

}  // namespace
}  // namespace goodput::store
