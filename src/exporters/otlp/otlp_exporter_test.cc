// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "exporters/proto/otlp.pb.h"
#include "exporters/test_receiver.h"

namespace goodput::exporters {
namespace {

using report::JobStatus;
using testing::ElementsAre;

class Otlp : public testing::Test {
 protected:
  OtlpExporter& open() {
    OtlpSettings settings;
    settings.metrics = settings.logs = signal_;
    settings.metrics.url = receiver_.url("/v1/metrics");
    settings.logs.url = receiver_.url("/v1/logs");
    const Memory memory{.recall = [this] { return kept_; },
                        .keep =
                            [this](std::string_view bytes) {
                              kept_ = bytes;
                              return Status();
                            }};
    exporter_ = std::make_unique<OtlpExporter>(settings, nullptr, memory);
    return *exporter_;
  }
  Update update_of(int64_t as_of_ns, std::vector<StatusChange> changes) {
    for (StatusChange& change : changes) change.number = ++changes_;
    Update update;
    update.report.job = "llama";
    update.report.as_of_ns = as_of_ns;
    update.status_changes = std::move(changes);
    return update;
  }
  std::vector<std::string> paths() {
    std::vector<std::string> out;
    for (const ReceivedRequest& request : receiver_.requests()) out.push_back(request.path);
    return out;
  }
  otlp::LogsRequest logs(size_t request) {
    otlp::LogsRequest out;
    EXPECT_TRUE(out.ParseFromString(receiver_.requests().at(request).body));
    return out;
  }

  OtlpSignal signal_;
  Receiver receiver_;
  std::string kept_;
  uint64_t changes_ = 0;
  std::unique_ptr<OtlpExporter> exporter_;
};

TEST_F(Otlp, MetricsEachTimeAndLogsWhenThereAreAny) {
  OtlpExporter& otlp = open();
  ASSERT_TRUE(otlp.send(update_of(1, {{1, JobStatus::kRunning}})).ok());
  ASSERT_TRUE(otlp.send(update_of(2, {})).ok());
  EXPECT_THAT(paths(), ElementsAre("/v1/metrics", "/v1/logs", "/v1/metrics"));
  EXPECT_EQ(receiver_.requests()[0].headers["content-type"], "application/x-protobuf");
  otlp::MetricsRequest metrics;
  ASSERT_TRUE(metrics.ParseFromString(receiver_.requests()[2].body));
  EXPECT_EQ(metrics.resource_metrics_size(), 1);
}

TEST_F(Otlp, GzipAndHeadersAreSentAsAsked) {
  signal_.is_gzipped = true;
  signal_.headers = {{"api-key", "k"}};
  ASSERT_TRUE(open().send(update_of(1, {})).ok());
  ReceivedRequest request = receiver_.requests()[0];
  EXPECT_EQ(request.headers["content-encoding"], "gzip");
  EXPECT_EQ(request.headers["api-key"], "k");
  std::string plain(1 << 20, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(request.body.data());
  stream.avail_in = static_cast<uInt>(request.body.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  ASSERT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  plain.resize(stream.total_out);
  inflateEnd(&stream);
  otlp::MetricsRequest metrics;
  EXPECT_TRUE(metrics.ParseFromString(plain));
  EXPECT_EQ(metrics.resource_metrics_size(), 1);
}

TEST_F(Otlp, WhatIsWorthARetryIsAsTheSpecificationSays) {
  const std::pair<const char*, StatusCode> cases[] = {
      {"429 Too Many", StatusCode::kUnavailable}, {"502 Bad", StatusCode::kUnavailable},
      {"503 Busy", StatusCode::kUnavailable},     {"504 Late", StatusCode::kUnavailable},
      {"400 Bad", StatusCode::kInvalidArgument},  {"401 Who", StatusCode::kInvalidArgument},
      {"413 Long", StatusCode::kInvalidArgument}, {"500 Broken", StatusCode::kInvalidArgument}};
  OtlpExporter& otlp = open();
  int64_t as_of_ns = 0;
  for (const auto& [status, code] : cases) {
    receiver_.answers = {{.status = status, .headers = "Retry-After: 2\r\n"}};
    EXPECT_EQ(otlp.send(update_of(++as_of_ns, {})).code(), code) << status;
    EXPECT_EQ(otlp.retry_after_ns(), code == StatusCode::kUnavailable ? 2'000'000'000 : 0) << status;
  }
}

TEST_F(Otlp, OnlyTheSignalThatFailedIsSentAgain) {
  OtlpExporter& otlp = open();
  receiver_.answers = {{}, {.status = "503 Busy"}};
  const Update update = update_of(1, {{1, JobStatus::kRunning}});
  EXPECT_EQ(otlp.send(update).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(otlp.send(update).ok());
  EXPECT_THAT(paths(), ElementsAre("/v1/metrics", "/v1/logs", "/v1/logs"));
  EXPECT_EQ(logs(1).SerializeAsString(), logs(2).SerializeAsString());
}

TEST_F(Otlp, PartialSuccessIsCountedAndNotSentAgain) {
  OtlpExporter& otlp = open();
  otlp::Response response;
  response.mutable_partial_success()->set_rejected(3);
  response.mutable_partial_success()->set_error_message("too old\n");
  receiver_.answers = {{.body = response.SerializeAsString()}, {.body = "\xff garbage"}};
  EXPECT_TRUE(otlp.send(update_of(1, {{1, JobStatus::kRunning}})).ok());
  EXPECT_TRUE(otlp.send(update_of(2, {})).ok());
  EXPECT_EQ(otlp.rejected(), 3U);
  EXPECT_EQ(otlp.rejection(), "too old");
  EXPECT_THAT(paths(), ElementsAre("/v1/metrics", "/v1/logs", "/v1/metrics"));
}

TEST_F(Otlp, APartialSuccessInJsonIsCounted) {
  signal_.is_json = true;
  OtlpExporter& otlp = open();
  receiver_.answers = {{.body = R"({"partialSuccess":{"rejectedDataPoints":"2"}})"}};
  EXPECT_TRUE(otlp.send(update_of(1, {})).ok());
  EXPECT_EQ(otlp.rejected(), 2U);
  EXPECT_EQ(receiver_.requests()[0].headers["content-type"], "application/json");
}

TEST_F(Otlp, ARestartTellsNothingTwiceAndWhatWasBeingToldTheSame) {
  receiver_.answers = {{}, {}, {}, {.status = "503 Busy"}};
  ASSERT_TRUE(open().send(update_of(1, {{1, JobStatus::kRunning}})).ok());
  EXPECT_FALSE(exporter_->send(update_of(2, {{2, JobStatus::kStalled}})).ok());
  EXPECT_TRUE(open().send(update_of(3, {{3, JobStatus::kRunning}})).ok());
  EXPECT_TRUE(open().send(update_of(4, {{4, JobStatus::kRunning}})).ok());
  EXPECT_THAT(paths(), ElementsAre("/v1/metrics", "/v1/logs", "/v1/metrics", "/v1/logs", "/v1/metrics", "/v1/logs",
                                   "/v1/metrics"));
  const auto records = [&](size_t request) { return logs(request).resource_logs(0).scope_logs(0).log_records(); };
  const auto first_try = records(3);
  const auto again = records(5);
  ASSERT_EQ(again.size(), 2);
  EXPECT_EQ(again.Get(0).SerializeAsString(), first_try.Get(0).SerializeAsString());
  EXPECT_EQ(again.Get(1).time_unix_nano(), 3U);
}

TEST_F(Otlp, AMemoryOfGarbageIsAsIfThereWereNone) {
  kept_ = "\xff\xff\xff";
  EXPECT_TRUE(open().send(update_of(1, {{1, JobStatus::kRunning}})).ok());
  EXPECT_THAT(paths(), ElementsAre("/v1/metrics", "/v1/logs"));
}

}  // namespace
}  // namespace goodput::exporters
