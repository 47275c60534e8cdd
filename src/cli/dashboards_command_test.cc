// `goodput dashboards` as it is typed; what is exported is compared with the files by python/tests/test_dashboards.py.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/testing/capture.h"
#include "gcp/fake_google.h"

namespace goodput::cli {
namespace {

using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_captured;
using testing::ScopedEnvironment;

class DashboardsCommand : public ::testing::Test {
 protected:
  static constexpr const char* kList = "GET /v1/projects/p-1/dashboards";
  static constexpr const char* kCreate = "POST /v1/projects/p-1/dashboards";

  gcp::FakeGoogle google_;
  const ScopedEnvironment endpoint_{"GOODPUT_MONITORING_ENDPOINT", google_.url("").c_str()};
  const ScopedEnvironment not_on_google_{"NO_GCE_CHECK", "true"};
  const ScopedEnvironment no_key_{"GOOGLE_APPLICATION_CREDENTIALS", nullptr};
  const ScopedEnvironment no_project_{"GOOGLE_CLOUD_PROJECT", nullptr};
  const ScopedEnvironment no_home_{"HOME", "/nonexistent"};
};

TEST_F(DashboardsCommand, InstallsInAProject) {
  google_.on(kList, 200, "{}");
  google_.on(kCreate, 200, R"({"name":"projects/p-1/dashboards/7"})");
  const Outcome outcome = run_captured({"dashboards", "install", "--project", "p-1"}, commands());
  EXPECT_EQ(outcome.code, kDone) << outcome.err;
  EXPECT_EQ(outcome.out,
            "The dashboard \"Goodput\" was made: projects/p-1/dashboards/7\n"
            "The dashboard \"Goodput and JobSets\" was made: projects/p-1/dashboards/7\n");
}

TEST_F(DashboardsCommand, ADryRunOnlyAsks) {
  google_.on(kList, 200, "{}");
  google_.on(kCreate, 200, "{}");
  const Outcome outcome = run_captured({"dashboards", "install", "--project", "p-1", "--dry-run"}, commands());
  EXPECT_EQ(outcome.code, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("The dashboard \"Goodput\" would be made.\n"));
  EXPECT_THAT(google_.last(kCreate), HasSubstr("validateOnly=true"));
}

TEST_F(DashboardsCommand, WhatCannotBeInstalledIsTold) {
  EXPECT_EQ(run_captured({"dashboards", "install"}, commands()).code, kUsage);
  google_.on(kList, 403, R"({"error":{"code":403,"message":"no right to","status":"PERMISSION_DENIED"}})");
  const Outcome refused = run_captured({"dashboards", "install", "--project", "p-1"}, commands());
  EXPECT_EQ(refused.code, kCannot);
  EXPECT_THAT(refused.err, HasSubstr("listing dashboards: "));
}

TEST_F(DashboardsCommand, AnActionIsNeeded) {
  EXPECT_EQ(run_captured({"dashboards"}, commands()).code, kUsage);
  EXPECT_EQ(run_captured({"dashboards", "show"}, commands()).code, kUsage);
}

}  // namespace
}  // namespace goodput::cli
