// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/test_receiver.h"

namespace goodput::exporters {
namespace {

bool is_busy(int status) { return status == 503; }

TEST(HttpSink, AnswersAreJudgedOnceForAll) {
  Receiver receiver;
  receiver.answers = {{.status = "200 OK", .body = "fine"},
                      {.status = "503 Busy", .headers = "Retry-After: 7\r\n"},
                      {.status = "400 Bad Request", .headers = "Retry-After: 7\r\n", .body = "no\nsuch \x01 name\n"}};
  HttpSink sink({}, "sending");
  const HttpRequest request{.method = "POST", .url = receiver.url(), .body = "x"};
  EXPECT_EQ(sink.post(request, is_busy).value(), "fine");
  EXPECT_EQ(sink.post(request, is_busy).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(sink.retry_after_ns(), 7'000'000'000);
  const Status refused = sink.post(request, is_busy).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), testing::EndsWith("HTTP status 400 no such   name"));
  EXPECT_EQ(sink.retry_after_ns(), 0);
}

TEST(HttpSink, NoAnswerIsWorthARetryAndShowsNoPassword) {
  HttpSink sink({}, "sending");
  const Status failed = sink.post({.method = "POST", .url = "http://me:secret@127.0.0.1:1/"}, is_busy).status();
  EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
  EXPECT_THAT(failed.message(), testing::HasSubstr("sending to http://127.0.0.1:1/"));
  EXPECT_THAT(failed.message(), testing::Not(testing::HasSubstr("secret")));
}

TEST(HttpSink, PairsArePercentDecodedAndWrongOnesRefused) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_pairs("a=1, b = x%20y=%3D,,c=").value(), (Pairs{{"a", "1"}, {"b", "x y=="}, {"c", ""}}));
  EXPECT_EQ(parse_pairs("").value(), Pairs());
  for (const char* wrong : {"a", "=1", "a=%2", "a=%zz", "a=x%0d%0aEvil: 1", "a=1,b"}) {
    EXPECT_EQ(parse_pairs(wrong).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace goodput::exporters
