// SPDX-License-Identifier: Apache-2.0
#include "exporters/remote_write/remote_write_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <cmath>

#include "exporters/proto/remote_write.pb.h"
#include "exporters/test_receiver.h"

namespace goodput::exporters {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

Update update_of(int64_t as_of_ns, report::SecondsByName badput = {}) {
  Update update;
  update.report.job = "llama";
  update.report.as_of_ns = as_of_ns;
  update.report.badput_seconds = std::move(badput);
  return update;
}

remote_write::WriteRequest decoded(const ReceivedRequest& request) {
  std::string plain;
  EXPECT_TRUE(snappy::Uncompress(request.body.data(), request.body.size(), &plain));
  remote_write::WriteRequest out;
  EXPECT_TRUE(out.ParseFromString(plain));
  return out;
}

/// How many series of badput have a value, and how many end.
std::pair<int, int> badput_of(const remote_write::WriteRequest& request) {
  int values = 0, ends = 0;
  for (const auto& series : request.timeseries()) {
    if (series.labels(0).value() != "badput_time_seconds") continue;
    (std::isnan(series.samples(0).value()) ? ends : values) += 1;
  }
  return {values, ends};
}

TEST(RemoteWrite, IsWhatTheProtocolAsksFor) {
  Receiver receiver;
  receiver.answers = {{.status = "204 No Content"}};
  RemoteWriteExporter exporter({.url = receiver.url("/api/v1/write"), .headers = {{"X-Scope-OrgID", "team"}}}, nullptr);
  ASSERT_TRUE(exporter.send(update_of(5 * kSecond)).ok());
  ReceivedRequest request = receiver.requests().at(0);
  EXPECT_EQ(request.path, "/api/v1/write");
  EXPECT_EQ(request.headers["content-encoding"], "snappy");
  EXPECT_EQ(request.headers["content-type"], "application/x-protobuf");
  EXPECT_EQ(request.headers["x-prometheus-remote-write-version"], "0.1.0");
  EXPECT_EQ(request.headers["x-scope-orgid"], "team");
  EXPECT_GT(decoded(request).timeseries_size(), 5);
  EXPECT_EQ(decoded(request).timeseries(0).samples(0).timestamp(), 5'000);
}

TEST(RemoteWrite, WhatIsWorthARetryIsAsTheProtocolSays) {
  const std::pair<const char*, StatusCode> cases[] = {
      {"500 Broken", StatusCode::kUnavailable},   {"503 Busy", StatusCode::kUnavailable},
      {"429 Too Many", StatusCode::kUnavailable}, {"400 Out of order", StatusCode::kInvalidArgument},
      {"401 Who", StatusCode::kInvalidArgument},  {"302 Elsewhere", StatusCode::kInvalidArgument}};
  Receiver receiver;
  RemoteWriteExporter exporter({.url = receiver.url()}, nullptr);
  for (const auto& [status, code] : cases) {
    receiver.answers = {{.status = status, .headers = "Retry-After: 3\r\n"}};
    EXPECT_EQ(exporter.send(update_of(kSecond)).code(), code) << status;
    EXPECT_EQ(exporter.retry_after_ns(), code == StatusCode::kUnavailable ? 3 * kSecond : 0) << status;
  }
}

TEST(RemoteWrite, NothingIsOlderThanWhatWasSent) {
  Receiver receiver;
  RemoteWriteExporter exporter({.url = receiver.url()}, nullptr);
  EXPECT_TRUE(exporter.send(update_of(5 * kSecond)).ok());
  EXPECT_EQ(exporter.send(update_of(4 * kSecond)).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(exporter.send(update_of(6 * kSecond)).ok());
  EXPECT_EQ(receiver.requests().size(), 2U);
}

TEST(RemoteWrite, ASeriesThatIsGoneEndsOnceItsEndHasArrived) {
  Receiver receiver;
  RemoteWriteExporter exporter({.url = receiver.url()}, nullptr);
  EXPECT_TRUE(exporter.send(update_of(1 * kSecond, {{"OTHER", 1}, {"STALLED", 2}})).ok());
  receiver.answers = {{.status = "503 Busy"}};
  EXPECT_FALSE(exporter.send(update_of(2 * kSecond, {{"OTHER", 1}})).ok());
  EXPECT_TRUE(exporter.send(update_of(3 * kSecond, {{"OTHER", 1}})).ok());
  EXPECT_TRUE(exporter.send(update_of(4 * kSecond, {{"OTHER", 1}})).ok());
  const auto requests = receiver.requests();
  EXPECT_EQ(badput_of(decoded(requests.at(0))), std::pair(2, 0));
  EXPECT_EQ(badput_of(decoded(requests.at(1))), std::pair(1, 1));
  EXPECT_EQ(badput_of(decoded(requests.at(2))), std::pair(1, 1));
  EXPECT_EQ(badput_of(decoded(requests.at(3))), std::pair(1, 0));
}

}  // namespace
}  // namespace goodput::exporters
