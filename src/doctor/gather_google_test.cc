// What is asked of Google Cloud, and what becomes of its answers.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "doctor/gather.h"
#include "gcp/fake_google.h"

namespace goodput::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A machine on Google Cloud, and its project.
class DoctorGoogle : public ::testing::Test {
 protected:
  DoctorGoogle() {
    google_.with_header("Metadata-Flavor: Google\r\n");
    google_.on("GET /computeMetadata/v1/instance/service-accounts/default/token", 200,
               R"({"access_token":"one","expires_in":3600,"token_type":"Bearer"})");
    google_.on("GET /computeMetadata/v1/instance/service-accounts/default/scopes", 200,
               "https://www.googleapis.com/auth/logging.write\nhttps://www.googleapis.com/auth/monitoring\n");
  }
  std::optional<GoogleFacts> look(std::map<std::string, std::string> more = {}, const std::string& project = "p-1") {
    std::map<std::string, std::string> set = {{"GCE_METADATA_HOST", google_.host()},
                                              {"HOME", "/nonexistent"},
                                              {"GOODPUT_LOGGING_ENDPOINT", google_.url("/logging")},
                                              {"GOODPUT_MONITORING_ENDPOINT", google_.url("/monitoring")},
                                              {"GOODPUT_RESOURCE_MANAGER_ENDPOINT", google_.url("/manager")}};
    for (auto& [name, value] : more) set[name] = value;
    return look_at_google(gcp::variables(set), project);
  }

  static constexpr const char* kAsk = "POST /manager/v1/projects/p-1:testIamPermissions";
  static constexpr const char* kLogs = "GET /logging/v2/projects/p-1/logs";
  static constexpr const char* kMetrics = "GET /monitoring/v3/projects/p-1/metricDescriptors";
  gcp::FakeGoogle google_;
};

constexpr const char* kDisabled =
    R"({"error":{"code":403,"status":"PERMISSION_DENIED","message":"it has not been used","details":[)"
    R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}]}})";
constexpr const char* kDenied = R"({"error":{"code":403,"status":"PERMISSION_DENIED","message":"denied"}})";

TEST_F(DoctorGoogle, AsksForPermissionsScopesAndApis) {
  google_.on(kAsk, 200, R"({"permissions":["logging.logEntries.create","logging.logEntries.list"]})");
  google_.on(kLogs, 200, "{}");
  google_.on(kMetrics, 403, kDisabled);
  const auto google = look();
  ASSERT_TRUE(google.has_value());
  EXPECT_EQ(google->credentials_trouble, "");
  EXPECT_EQ(google->project, "p-1");
  EXPECT_THAT(
      google->missing_permissions,
      ElementsAre("monitoring.timeSeries.create", "monitoring.metricDescriptors.create", "storage.objects.create",
                  "storage.objects.get", "storage.objects.list", "storage.objects.delete"));
  EXPECT_THAT(google->disabled_apis, ElementsAre("monitoring.googleapis.com"));
  ASSERT_TRUE(google->machine_scopes.has_value());
  EXPECT_THAT(*google->machine_scopes, ElementsAre(HasSubstr("auth/logging.write"), HasSubstr("auth/monitoring")));
  EXPECT_THAT(google_.last_body(kAsk), HasSubstr("monitoring.timeSeries.create"));
}

TEST_F(DoctorGoogle, NothingGrantedIsAnAnswerToo) {
  google_.on(kAsk, 200, "{}");
  EXPECT_EQ(look()->missing_permissions.size(), 8U);
}

TEST_F(DoctorGoogle, ARefusalToTellIsNoMissingPermission) {
  google_.on(kAsk, 403, kDisabled);
  google_.on(kLogs, 403, kDenied);
  google_.on(kMetrics, 500, "broken");
  const auto google = look();
  EXPECT_EQ(google->permissions_trouble, "it has not been used");
  EXPECT_TRUE(google->missing_permissions.empty());
  EXPECT_TRUE(google->disabled_apis.empty());
  EXPECT_NE(google->apis_trouble, "");
}

TEST_F(DoctorGoogle, AnAnswerThatMakesNoSenseIsTold) {
  google_.on(kAsk, 200, "<html>");
  EXPECT_EQ(look()->permissions_trouble, "the answer makes no sense");
}

TEST_F(DoctorGoogle, TheProjectIsTheMachines) {
  google_.on("GET /computeMetadata/v1/project/project-id", 200, "p-1");
  google_.on(kAsk, 200, "{}");
  EXPECT_EQ(look({}, "")->project, "p-1");
}

TEST_F(DoctorGoogle, OffGoogleCloudNothingIsAsked) {
  EXPECT_FALSE(look({{"NO_GCE_CHECK", "true"}}, "").has_value());
  EXPECT_EQ(google_.count(kAsk), 0U);
}

TEST_F(DoctorGoogle, AFileThatIsNamedAndNotThereIsTold) {
  const auto google = look({{"GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/key.json"}}, "");
  ASSERT_TRUE(google.has_value());
  EXPECT_THAT(google->credentials_trouble, HasSubstr("/nonexistent/key.json"));
}

}  // namespace
}  // namespace goodput::doctor
