// SPDX-License-Identifier: Apache-2.0
#include "gcp/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "gcp/fake_google.h"
#include "gcp/test_key.h"

namespace goodput::gcp {
namespace {

using testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

class CredentialsTest : public testing::Test {
 protected:
  /// What is found with these variables, asking again after a millisecond.
  Result<std::shared_ptr<Credentials>> find(std::map<std::string, std::string> set) {
    set.emplace("NO_GCE_CHECK", "true");
    return Credentials::find({.scopes = {"scope-1", "scope-2"},
                              .environment = variables(std::move(set)),
                              .clock = &clock_,
                              .timeout_ns = 2 * kSecond,
                              .first_retry_ns = kSecond / 1000});
  }
  /// Of a file with this text.
  std::shared_ptr<Credentials> of(const std::string& text) {
    write_text(path_, text);
    auto found = find({{"GOOGLE_APPLICATION_CREDENTIALS", path_}});
    CHECK(found.ok());
    return *found;
  }
  std::shared_ptr<Credentials> service_account() {
    return of(key_.service_account("me@p.iam.gserviceaccount.com", google_.url("/token")));
  }
  void gives(const std::string& token, int seconds = 3600) {
    google_.on("POST /token", 200,
               R"({"access_token":")" + token + R"(","expires_in":)" + std::to_string(seconds) + "}");
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/credentials.json";
  inline static const TestKey key_;  // making one takes a while
  ManualClock clock_;
  FakeGoogle google_;
};

TEST_F(CredentialsTest, ServiceAccountSignsWhatItAsksFor) {
  gives("one");
  EXPECT_EQ(*service_account()->token(), "one");
  const std::string body = google_.last_body("POST /token");
  const std::string kBegin = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(body.starts_with(kBegin)) << body;
  const std::string jwt = body.substr(kBegin.size());
  EXPECT_TRUE(key_.verifies(jwt));
  EXPECT_EQ(open_jwt(jwt).claims, R"({"aud":")" + google_.url("/token") +
                                      R"(","exp":1767229200,"iat":1767225600,)"
                                      R"("iss":"me@p.iam.gserviceaccount.com","scope":"scope-1 scope-2"})");
  EXPECT_THAT(google_.last("POST /token"), HasSubstr("Content-Type: application/x-www-form-urlencoded\r\n"));
}

TEST_F(CredentialsTest, TokenIsKeptUntilItIsNearlyOver) {
  gives("one");
  gives("two");
  const auto credentials = service_account();
  EXPECT_EQ(*credentials->token(), "one");
  clock_.advance((3600 - 226) * kSecond);
  EXPECT_EQ(*credentials->token(), "one");
  EXPECT_EQ(google_.count("POST /token"), 1U);
  clock_.advance(2 * kSecond);
  EXPECT_EQ(*credentials->token(), "two");
  EXPECT_EQ(google_.count("POST /token"), 2U);
}

TEST_F(CredentialsTest, WallClockThatStepsAgesNoToken) {
  gives("one");
  gives("two");
  const auto credentials = service_account();
  EXPECT_EQ(*credentials->token(), "one");
  clock_.step_wall(7200 * kSecond);
  EXPECT_EQ(*credentials->token(), "one");
}

TEST_F(CredentialsTest, FailedRenewalHurtsOnlyOnceTheTokenIsOver) {
  gives("one");
  google_.on("POST /token", 503, "");
  const auto credentials = service_account();
  EXPECT_EQ(*credentials->token(), "one");
  clock_.advance(3500 * kSecond);
  EXPECT_EQ(*credentials->token(), "one");
  EXPECT_EQ(google_.count("POST /token"), 4U);  // the first, and three attempts
  EXPECT_EQ(*credentials->token(), "one");
  EXPECT_EQ(google_.count("POST /token"), 4U);  // not again at once
  clock_.advance(101 * kSecond);
  const Result<std::string> over = credentials->token();
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.status().code(), StatusCode::kUnavailable);
}

TEST_F(CredentialsTest, PassingTroubleIsTriedAgain) {
  google_.on("POST /token", 500, "");
  google_.on("POST /token", 400, R"({"error":"temporarily_unavailable"})");
  gives("one");
  EXPECT_EQ(*service_account()->token(), "one");
  EXPECT_EQ(google_.count("POST /token"), 3U);
}

TEST_F(CredentialsTest, CancelEndsThePauseBeforeTheNextQuestion) {
  google_.on("POST /token", 503, "");
  std::atomic<bool> is_cancelled = false;
  const auto credentials = Credentials::of(
      {.kind =
           AuthorizedUser{
               .client_id = "i", .client_secret = "s", .refresh_token = "r", .token_url = google_.url("/token")},
       .path = "login.json",
       .project = "",
       .quota_project = ""},
      {.environment = variables({}), .first_retry_ns = 20 * kSecond, .is_cancelled = &is_cancelled});
  const auto start = std::chrono::steady_clock::now();
  std::thread canceller([&] {
    while (google_.count("POST /token") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_cancelled = true;
  });
  EXPECT_EQ(credentials->token().status().code(), StatusCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  canceller.join();
  EXPECT_EQ(google_.count("POST /token"), 1U);
}

TEST_F(CredentialsTest, RefusalIsFinalAndSaysWhy) {
  google_.on("POST /token", 400, R"({"error":"invalid_grant","error_description":"Invalid JWT Signature."})");
  const Result<std::string> token = service_account()->token();
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.status().code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(token.status().message(), HasSubstr("for a token of me@p.iam.gserviceaccount.com: invalid_grant: Invalid "
                                                  "JWT Signature. (revoked, expired, or the clock"));
  EXPECT_EQ(google_.count("POST /token"), 1U);
}

TEST_F(CredentialsTest, RefusedTokenIsReplaced) {
  gives("one");
  gives("two");
  const auto credentials = service_account();
  EXPECT_EQ(*credentials->token(), "one");
  credentials->refuse("another");
  EXPECT_EQ(*credentials->token(), "one");
  credentials->refuse("one");
  EXPECT_EQ(*credentials->token(), "two");
}

TEST_F(CredentialsTest, OfManyThatNeedATokenOneAsks) {
  gives("one");
  const auto credentials = service_account();
  std::vector<std::thread> threads;
  std::atomic<int> had = 0;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { had += *credentials->token() == "one" ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(had.load(), 8);
  EXPECT_EQ(google_.count("POST /token"), 1U);
}

TEST_F(CredentialsTest, LifetimeMayBeText) {
  google_.on("POST /token", 200, R"({"access_token":"one","expires_in":"1000"})");
  gives("two");
  const auto credentials = service_account();
  EXPECT_EQ(*credentials->token(), "one");
  clock_.advance(770 * kSecond);
  EXPECT_EQ(*credentials->token(), "one");
  clock_.advance(10 * kSecond);
  EXPECT_EQ(*credentials->token(), "two");
}

TEST_F(CredentialsTest, AnswerThatNestsDeeplyDoesNoHarm) {
  constexpr size_t kDepth = 200'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  google_.on("POST /token", 200, R"({"access_token":"one","expires_in":)" + deep + "}");
  EXPECT_EQ(*service_account()->token(), "one");
  google_.on("POST /token", 400, R"({"error":"invalid_grant","error_description":)" + deep + "}");
  google_.on("POST /token", 400,
             R"({"error":"invalid_grant","error_description":")" + std::string(100'000, 'x') + "\"}");
  (void)service_account()->token();  // takes the 200 that is left
  EXPECT_THAT(service_account()->token().status().message(), HasSubstr("invalid_grant (revoked"));
  EXPECT_LT(service_account()->token().status().message().size(), 2'000U);
}

TEST_F(CredentialsTest, LoginRefreshesAndBillsItsQuotaProject) {
  gives("one");
  const auto credentials = of(R"({"type":"authorized_user","client_id":"id","client_secret":"s&","refresh_token":"r",
      "quota_project_id":"q","token_uri":")" +
                              google_.url("/token") + "\"}");
  EXPECT_EQ(*credentials->token(), "one");
  EXPECT_EQ(google_.last_body("POST /token"),
            "grant_type=refresh_token&client_id=id&client_secret=s%26&refresh_token=r");
  EXPECT_EQ(credentials->quota_project(), "q");
}

TEST_F(CredentialsTest, ExternalAccountReadsItsTokenFileAnewEachTime) {
  gives("one", 60);
  gives("two", 60);
  const std::string subject = folder_.path() + "/subject";
  write_text(subject, "rotating-1\n");
  const auto credentials =
      of(R"({"type":"external_account","audience":"//iam/a","subject_token_type":"urn:jwt","token_url":")" +
         google_.url("/token") + R"(","credential_source":{"file":")" + subject + R"("}})");
  EXPECT_EQ(*credentials->token(), "one");
  EXPECT_EQ(google_.last_body("POST /token"),
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&audience=%2F%2Fiam%2Fa&"
            "scope=scope-1%20scope-2&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&"
            "subject_token=rotating-1&subject_token_type=urn%3Ajwt");
  write_text(subject, "rotating-2");
  EXPECT_EQ(*credentials->token(), "two");
  EXPECT_THAT(google_.last_body("POST /token"), HasSubstr("&subject_token=rotating-2&"));
  std::filesystem::remove(subject);
  clock_.advance(100 * kSecond);
  EXPECT_THAT(credentials->token().status().message(), HasSubstr("reading the token " + subject + " that " + path_));
}

TEST_F(CredentialsTest, ExternalAccountByUrlActsAsAServiceAccount) {
  google_.on("GET /subject", 200, R"({"value":"subject-1"})");
  gives("exchanged");
  google_.on("POST /impersonate", 200, R"({"accessToken":"acting","expireTime":"2026-01-01T01:00:00Z"})");
  const auto credentials = of(
      R"({"type":"external_account","audience":"a","subject_token_type":"t","client_id":"name","client_secret":"word",
      "token_url":")" +
      google_.url("/token") + R"(","service_account_impersonation_url":")" + google_.url("/impersonate") +
      R"(","credential_source":{"url":")" + google_.url("/subject") +
      R"(","headers":{"Metadata":"True"},"format":{"type":"json","subject_token_field_name":"value"}}})");
  EXPECT_EQ(*credentials->token(), "acting");
  EXPECT_THAT(google_.last("GET /subject"), HasSubstr("Metadata: True\r\n"));
  EXPECT_THAT(google_.last("POST /token"), HasSubstr("Authorization: Basic bmFtZTp3b3Jk\r\n"));
  EXPECT_THAT(google_.last_body("POST /token"), HasSubstr("&scope=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fiam&"));
  EXPECT_THAT(google_.last("POST /impersonate"), HasSubstr("Authorization: Bearer exchanged\r\n"));
  EXPECT_EQ(google_.last_body("POST /impersonate"),
            R"({"delegates":[],"lifetime":"3600s","scope":["scope-1","scope-2"]})");
  clock_.advance(3360 * kSecond);
  EXPECT_EQ(*credentials->token(), "acting");
  EXPECT_EQ(google_.count("POST /impersonate"), 1U);
  clock_.advance(20 * kSecond);
  EXPECT_EQ(*credentials->token(), "acting");
  EXPECT_EQ(google_.count("POST /impersonate"), 2U);
}

TEST_F(CredentialsTest, NoProxyIsAskedForAnAddressOfThisMachine) {
  google_.on("GET /subject", 200, "subject-1");
  gives("exchanged");
  google_.on("POST /impersonate", 200, R"({"accessToken":"acting","expireTime":"2026-01-01T01:00:00Z"})");
  const auto credentials =
      of(R"({"type":"external_account","audience":"a","subject_token_type":"t","token_url":")" + google_.url("/token") +
         R"(","service_account_impersonation_url":")" + google_.url("/impersonate") +
         R"(","credential_source":{"url":")" + google_.url("/subject") + R"("}})");
  const DeadProxy proxy;
  const Result<std::string> token = credentials->token();
  EXPECT_TRUE(token.ok()) << token.status().message();
  EXPECT_EQ(google_.count("GET /subject"), 1U);
}

TEST_F(CredentialsTest, RightToImpersonateThatIsMissingShows) {
  gives("login");
  google_.on(
      "POST /impersonate", 403,
      R"({"error":{"code":403,"status":"PERMISSION_DENIED","message":"iam.serviceAccounts.getAccessToken denied"}})");
  const auto credentials = of(
      R"({"type":"impersonated_service_account","delegates":["d"],"service_account_impersonation_url":")" +
      google_.url("/impersonate") +
      R"(","source_credentials":{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r","token_uri":")" +
      google_.url("/token") + "\"}}");
  const Result<std::string> token = credentials->token();
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.status().code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(token.status().message(),
              testing::EndsWith("PERMISSION_DENIED: iam.serviceAccounts.getAccessToken denied"));
}

TEST_F(CredentialsTest, MachineAccountIsAskedOfTheMetadataServer) {
  google_.with_header("Metadata-Flavor: Google\r\n");
  google_.on("GET /computeMetadata/v1/instance/service-accounts/default/token", 200,
             R"({"access_token":"machine","expires_in":3599,"token_type":"Bearer"})");
  const auto credentials = find({{"GCE_METADATA_HOST", google_.host()}, {"NO_GCE_CHECK", "false"}});
  ASSERT_TRUE(credentials.ok());
  EXPECT_EQ(*(*credentials)->token(), "machine");
  const std::string request = google_.last("GET /computeMetadata/v1/instance/service-accounts/default/token");
  EXPECT_THAT(request, HasSubstr("token?scopes=scope-1%2Cscope-2 "));
  EXPECT_THAT(request, HasSubstr("\r\nMetadata-Flavor: Google\r\n"));
  EXPECT_EQ((*credentials)->description(), "the service account of this machine");
}

TEST_F(CredentialsTest, ImpostorOfTheMetadataServerGivesNoToken) {
  google_.on("GET /computeMetadata/v1/instance/service-accounts/default/token", 200,
             R"({"access_token":"stolen","expires_in":3599})");
  const auto credentials = find({{"GCE_METADATA_HOST", google_.host()}, {"NO_GCE_CHECK", "false"}});
  EXPECT_THAT((*credentials)->token().status().message(), HasSubstr("is not Google's metadata server"));
}

TEST_F(CredentialsTest, NamedFileComesFirstThenGcloudsThenTheMachine) {
  const std::string text = R"({"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"})";
  write_text(folder_.path() + "/application_default_credentials.json", text);
  write_text(path_, text);
  const std::string gcloud = folder_.path();
  EXPECT_EQ((*find({{"GOOGLE_APPLICATION_CREDENTIALS", path_}, {"CLOUDSDK_CONFIG", gcloud}}))->description(),
            "a user's login in " + path_);
  EXPECT_EQ((*find({{"CLOUDSDK_CONFIG", gcloud}}))->description(),
            "a user's login in " + gcloud + "/application_default_credentials.json");
  EXPECT_EQ((*find({{"HOME", "/nonexistent"}, {"NO_GCE_CHECK", "no"}}))->description(),
            "the service account of this machine");
  EXPECT_EQ(find({{"HOME", "/nonexistent"}}).status().code(), StatusCode::kNotFound);
}

TEST_F(CredentialsTest, NamedFileThatIsNotThereIsNotPassedOver) {
  const Status status =
      find({{"GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent"}, {"CLOUDSDK_CONFIG", folder_.path()}}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "reading the credential file /nonexistent: No such file or directory "
            "(GOOGLE_APPLICATION_CREDENTIALS names it)");
}

TEST_F(CredentialsTest, NobodysTokenIsEmpty) {
  const auto nobody = Credentials::anonymous();
  EXPECT_EQ(*nobody->token(), "");
  nobody->refuse("");
  EXPECT_TRUE(nobody->is_anonymous());
}

}  // namespace
}  // namespace goodput::gcp
