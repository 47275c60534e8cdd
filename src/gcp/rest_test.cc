// SPDX-License-Identifier: Apache-2.0
#include "gcp/rest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ctime>

#include "base/clock.h"
#include "gcp/endpoints.h"
#include "gcp/fake_google.h"

namespace goodput::gcp {
namespace {

using testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

class Rest : public testing::Test {
 protected:
  std::shared_ptr<Credentials> login() {
    return Credentials::of(
        {.kind =
             AuthorizedUser{
                 .client_id = "i", .client_secret = "s", .refresh_token = "r", .token_url = google_.url("/token")},
         .path = "login.json",
         .project = "",
         .quota_project = "q"},
        {.environment = variables({}), .first_retry_ns = 1'000'000});
  }
  void gives(const std::string& token) {
    google_.on("POST /token", 200, R"({"access_token":")" + token + R"(","expires_in":3600})");
  }
  RestAnswer send(std::shared_ptr<Credentials> credentials) {
    RestClient client(std::move(credentials), {.timeout_ns = 5 * kSecond});
    return client.send({.url = google_.url("/v2/entries:write"), .body = "{}"});
  }

  FakeGoogle google_;
};

TEST_F(Rest, RequestCarriesTokenTypeAndWhoPays) {
  gives("one");
  google_.on("POST /v2/entries:write", 200, R"({"a":1})");
  const RestAnswer answer = send(login());
  EXPECT_FALSE(answer.error.has_value());
  EXPECT_EQ(answer.body, R"({"a":1})");
  const std::string request = google_.last("POST /v2/entries:write");
  EXPECT_THAT(request, HasSubstr("\r\nAuthorization: Bearer one\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nx-goog-user-project: q\r\n"));
}

TEST_F(Rest, RefusedTokenIsReplacedOnce) {
  gives("old");
  gives("new");
  google_.on("POST /v2/entries:write", 401, "");
  google_.on("POST /v2/entries:write", 200, "{}");
  EXPECT_FALSE(send(login()).error.has_value());
  EXPECT_THAT(google_.last("POST /v2/entries:write"), HasSubstr("Bearer new\r\n"));

  google_.on("POST /v2/entries:write", 401, R"({"error":{"status":"UNAUTHENTICATED","message":"no"}})");
  (void)send(login());  // takes the 200 that is left
  const size_t before = google_.count("POST /v2/entries:write");
  const RestAnswer answer = send(login());
  ASSERT_TRUE(answer.error.has_value());
  EXPECT_EQ(answer.error->http_status, 401);
  EXPECT_EQ(google_.count("POST /v2/entries:write"), before + 2);
}

TEST_F(Rest, TokenThatCannotBeHadIsAnError) {
  google_.on("POST /token", 400, R"({"error":"invalid_client"})");
  const RestAnswer refused = send(login());
  ASSERT_TRUE(refused.error.has_value());
  EXPECT_TRUE(refused.error->is_refusal());
  EXPECT_THAT(refused.error->message, HasSubstr("invalid_client"));
  EXPECT_EQ(google_.count("POST /v2/entries:write"), 0U);
}

TEST_F(Rest, TokenThatMayBeHadLaterIsATransientError) {
  google_.on("POST /token", 503, "");
  const RestAnswer later = send(login());
  ASSERT_TRUE(later.error.has_value());
  EXPECT_TRUE(later.error->is_transient());
}

TEST_F(Rest, TokenNeverLeavesOverPlainHttpForAnotherMachine) {
  gives("one");
  RestClient client(login(), {.timeout_ns = kSecond});
  const RestAnswer answer = client.send({.url = "http://192.0.2.1/v2/entries:write", .body = "{}"});
  ASSERT_TRUE(answer.error.has_value());
  EXPECT_THAT(answer.error->message, HasSubstr("overheard"));
  EXPECT_EQ(google_.count("POST /token"), 0U);
}

TEST_F(Rest, NoProxyIsAskedForAnAddressThatIsNotHttps) {
  gives("one");
  google_.on("POST /v2/entries:write", 200, "{}");
  const DeadProxy proxy;
  const RestAnswer answer = send(login());
  EXPECT_FALSE(answer.error.has_value()) << answer.error->message;
}

TEST_F(Rest, NobodySendsNoToken) {
  google_.on("POST /v2/entries:write", 200, "{}");
  EXPECT_FALSE(send(Credentials::anonymous()).error.has_value());
  EXPECT_EQ(google_.last("POST /v2/entries:write").find("Authorization"), std::string::npos);
}

/// "Thu, 01 Jan 2026 00:00:00 GMT"
std::string http_date(int64_t wall_ns) {
  const time_t seconds = wall_ns / kSecond;
  std::array<char, 64> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&seconds));
  return {text.data(), size};
}

struct Said {
  int status;
  const char* body;
  const char* word;
  const char* reason;
  int64_t delay_ns;  // -1: none
  bool is_transient;
  StatusCode code;
};

TEST(ApiError, IsReadWhateverTheBody) {
  const Said all[] = {
      {429, R"({"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[
          {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"}]}})",
       "RESOURCE_EXHAUSTED", "", 3'500'000'000, true, StatusCode::kUnavailable},
      {403, R"({"error":{"status":"PERMISSION_DENIED","message":"m","details":[
          {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}]}})",
       "PERMISSION_DENIED", "SERVICE_DISABLED", -1, false, StatusCode::kPermissionDenied},
      {400, R"({"error":{"status":"INVALID_ARGUMENT","message":7,"details":{}}})", "INVALID_ARGUMENT", "", -1, false,
       StatusCode::kInvalidArgument},
      {404, "<html>", "", "", -1, false, StatusCode::kNotFound},
      {500, R"({"error":"text"})", "", "", -1, true, StatusCode::kUnavailable},
      {503, R"({"error":{"details":[7,{"@type":"google.rpc.RetryInfo","retryDelay":"soon"}]}})", "", "", -1, true,
       StatusCode::kUnavailable},
      {502, "", "", "", -1, true, StatusCode::kUnavailable},
  };
  for (const Said& said : all) {
    SCOPED_TRACE(said.status);
    const auto error = read_api_error({.status = said.status, .failure = {}, .headers = {}, .body = said.body});
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->status, said.word);
    EXPECT_EQ(error->reason, said.reason);
    EXPECT_EQ(error->retry_delay_ns.value_or(-1), said.delay_ns);
    EXPECT_EQ(error->is_transient(), said.is_transient);
    EXPECT_EQ(error->to_status("doing").code(), said.code);
  }
}

struct Asked {
  const char* header;
  const char* in_details;               // empty: the answer has none
  int64_t least_seconds, most_seconds;  // -1: nothing is asked for
};

TEST(ApiError, HeaderSaysHowLongToWaitTooAndIsNotForgotten) {
  const std::string in_a_minute = http_date(wall_time_ns() + 60 * kSecond);
  const Asked all[] = {
      {"7", "", 7, 7},        {in_a_minute.c_str(), "", 57, 61},
      {"7", "3.5s", 3, 4},    {"7", "soon", 7, 7},
      {"7", "-3s", 7, 7},     {"", "soon", -1, -1},
      {"later", "", -1, -1},  {"Thu, 01 Jan 2026 00:00:00 GMT", "", -1, -1},
      {"86400", "", 1, 3600}, {"", "86400s", 1, 3600},
  };
  for (const Asked& asked : all) {
    SCOPED_TRACE(std::string(asked.header) + " " + asked.in_details);
    const std::string said = asked.in_details;
    const auto error = read_api_error(
        {.status = 429,
         .failure = {},
         .headers = {{"retry-after", asked.header}},
         .body = said.empty()
                     ? "{}"
                     : R"({"error":{"details":[{"@type":"google.rpc.RetryInfo","retryDelay":")" + said + R"("}]}})"});
    const int64_t delay_ns = error->retry_delay_ns.value_or(-kSecond);
    EXPECT_GE(delay_ns, asked.least_seconds * kSecond);
    EXPECT_LE(delay_ns, asked.most_seconds * kSecond);
  }
}

TEST(ApiError, NestingAndLengthOfTheAnswerDoNoHarm) {
  constexpr size_t kDepth = 200'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  const auto nested = read_api_error({.status = 400,
                                      .failure = {},
                                      .headers = {},
                                      .body = R"({"error":{"status":"INVALID_ARGUMENT","details":[{"a":)" + deep +
                                              R"(},{"@type":"google.rpc.ErrorInfo","reason":"R"}]}})"});
  ASSERT_TRUE(nested.has_value());
  EXPECT_EQ(nested->reason, "R");
  EXPECT_LT(nested->details.size(), 1'000U);

  const std::string words(1 << 20, 'x');
  const auto lengthy = read_api_error(
      {.status = 400, .failure = {}, .headers = {}, .body = R"({"error":{"message":"a\nb)" + words + R"("}})"});
  ASSERT_TRUE(lengthy.has_value());
  EXPECT_LT(lengthy->full_message.size(), words.size());
  EXPECT_LT(lengthy->message.size(), 2'000U);
  EXPECT_THAT(lengthy->to_status("doing").message(), testing::StartsWith("doing: HTTP 400: a bxxx"));
}

TEST(ApiError, AnswerThatBrokeOffIsNone) {
  const auto error = read_api_error({.status = 200, .failure = "reset", .headers = {}, .body = "{"});
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->http_status, 0);
  EXPECT_TRUE(error->is_transient());
  EXPECT_EQ(error->to_status("writing").message(), "writing: reset");
}

TEST(Endpoints, VariablesNameOthers) {
  EXPECT_EQ(logging_endpoint(variables({})).url, "https://logging.googleapis.com");
  EXPECT_EQ(monitoring_endpoint(variables({})).url, "https://monitoring.googleapis.com");
  EXPECT_EQ(logging_endpoint(variables({{"GOODPUT_LOGGING_ENDPOINT", "http://127.0.0.1:1/"}})).url,
            "http://127.0.0.1:1");
  EXPECT_EQ(monitoring_endpoint(variables({{"GOODPUT_MONITORING_ENDPOINT", "psc.example"}})).url,
            "https://psc.example");
  const Endpoint emulator = storage_endpoint(variables({{"STORAGE_EMULATOR_HOST", "localhost:4443"}}));
  EXPECT_EQ(emulator.url, "http://localhost:4443");
  EXPECT_TRUE(emulator.is_emulator);
}

TEST(Endpoints, OnlyElsewhereThanAtGoogleNobodyMayAsk) {
  const CredentialsOptions none{.environment = variables({{"HOME", "/nonexistent"}, {"NO_GCE_CHECK", "true"}})};
  EXPECT_EQ(credentials_for({.url = "https://x"}, none).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE((*credentials_for({.url = "https://x", .is_usual = false}, none))->is_anonymous());
  EXPECT_TRUE((*credentials_for({.url = "https://x", .is_usual = false, .is_emulator = true}, none))->is_anonymous());
}

}  // namespace
}  // namespace goodput::gcp
