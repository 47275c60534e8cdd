// SPDX-License-Identifier: Apache-2.0
#include "dashboards/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dashboards/dashboards.h"
#include "gcp/fake_google.h"

namespace goodput::dashboards {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class InstallDashboards : public ::testing::Test {
 protected:
  static constexpr const char* kList = "GET /v1/projects/p-1/dashboards";
  static constexpr const char* kCreate = "POST /v1/projects/p-1/dashboards";
  static constexpr const char* kReplace = "PATCH /v1/projects/p-1/dashboards/one";

  Result<std::vector<Installed>> install_all(Rehearsal rehearsal = Rehearsal::kNo) {
    gcp::RestClient client(gcp::Credentials::anonymous(), {});
    return install(client, google_.url(""), "p-1", rehearsal);
  }

  gcp::FakeGoogle google_;
};

TEST_F(InstallDashboards, MakesThoseThatAreNotThere) {
  google_.on(kList, 200, R"({"dashboards":[{"name":"projects/p-1/dashboards/one","displayName":"Goodput"}]})");
  google_.on(kCreate, 200, R"({"name":"projects/p-1/dashboards/new"})");
  const auto installed = install_all();
  ASSERT_TRUE(installed.ok()) << installed.status().message();
  ASSERT_EQ(installed->size(), 2U);
  EXPECT_FALSE((*installed)[0].was_there);  // that of this name has no label: it is somebody else's
  EXPECT_EQ((*installed)[1].title, "Goodput and JobSets");
  EXPECT_EQ((*installed)[1].resource, "projects/p-1/dashboards/new");
  EXPECT_EQ(google_.count(kCreate), 2U);
  EXPECT_EQ(json::parse(google_.last_body(kCreate)), json::parse(find_dashboard("jobset")->text));
}

TEST_F(InstallDashboards, ReplacesThoseOfOursOnWhateverPageTheyAre) {
  google_.on(kList, 200, R"({"dashboards":[{}],"nextPageToken":"a/b"})");
  google_.on(kList, 200,
             R"({"dashboards":[{"name":"projects/p-1/dashboards/one","displayName":"Goodput","etag":"e7",)"
             R"("labels":{"goodput":""}}]})");
  google_.on(kReplace, 200, "{}");
  google_.on(kCreate, 200, "{}");
  const auto installed = install_all();
  ASSERT_TRUE(installed.ok()) << installed.status().message();
  EXPECT_TRUE((*installed)[0].was_there);
  EXPECT_FALSE((*installed)[1].was_there);
  const json sent = json::parse(google_.last_body(kReplace));
  EXPECT_EQ(sent.at("etag"), "e7");
  EXPECT_EQ(sent.at("name"), "projects/p-1/dashboards/one");
  EXPECT_EQ(google_.count(kCreate), 1U);
}

TEST_F(InstallDashboards, ARehearsalChangesNothing) {
  google_.on(kList, 200, "{}");
  google_.on(kCreate, 200, "{}");
  const auto installed = install_all(Rehearsal::kYes);
  ASSERT_TRUE(installed.ok()) << installed.status().message();
  EXPECT_EQ((*installed)[0].resource, "");
  EXPECT_THAT(google_.last(kCreate), HasSubstr("validateOnly=true"));
}

TEST_F(InstallDashboards, ARefusalSaysWhatWasBeingDone) {
  google_.on(kList, 200, "{}");
  google_.on(kCreate, 403, R"({"error":{"code":403,"message":"no right to","status":"PERMISSION_DENIED"}})");
  const auto installed = install_all();
  ASSERT_FALSE(installed.ok());
  EXPECT_EQ(installed.status().code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(installed.status().message(), HasSubstr("installing the dashboard \"Goodput\": "));
  EXPECT_THAT(google_.last(kCreate), Not(HasSubstr("validateOnly")));
}

TEST_F(InstallDashboards, AListThatMakesNoSenseIsRefused) {
  google_.on(kList, 200, "<html>");
  EXPECT_EQ(install_all().status().code(), StatusCode::kUnreadable);
}

TEST_F(InstallDashboards, AListThatNeverEndsIsRefused) {
  google_.on(kList, 200, R"({"nextPageToken":"again"})");
  EXPECT_THAT(install_all().status().message(), HasSubstr("no end of pages"));
}

TEST_F(InstallDashboards, AListThatNestsDeeplyDoesNoHarm) {
  constexpr size_t kDepth = 200'000;
  google_.on(kList, 200, R"({"dashboards":[{"x":)" + std::string(kDepth, '[') + std::string(kDepth, ']') + "}]}");
  google_.on(kCreate, 200, "{}");
  EXPECT_TRUE(install_all().ok());
}

}  // namespace
}  // namespace goodput::dashboards
