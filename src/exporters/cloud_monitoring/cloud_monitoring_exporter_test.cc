// SPDX-License-Identifier: Apache-2.0
#include "exporters/cloud_monitoring/cloud_monitoring_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gcp/fake_google.h"

namespace goodput::exporters {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kMachine = "GET /computeMetadata/v1/";
const std::string kWrites = "POST /v3/projects/project-1/timeSeries";

/// A machine of Google's whose metadata server and whose Cloud Monitoring say what a test lets them say.
class CloudMonitoring : public testing::Test {
 protected:
  CloudMonitoring() {
    google_.with_header("Metadata-Flavor: Google\r\n");
    google_.on(kMachine + "instance/service-accounts/default/token", 200, R"({"access_token":"t","expires_in":3600})");
    update_.report.job = "llama-7b";
    update_.report.as_of_ns = 1;
    update_.report.ideal_step_time_seconds = 2.5;
  }
  Result<std::unique_ptr<CloudMonitoringExporter>> open(CloudMonitoringOptions options = {},
                                                        std::map<std::string, std::string> set = {}) {
    set.emplace("GOODPUT_MONITORING_ENDPOINT", google_.url(""));
    set.emplace("GCE_METADATA_HOST", google_.host());
    set.emplace("HOME", "/nonexistent");
    options.environment = gcp::variables(std::move(set));
    options.write_period_ns = 0;
    return CloudMonitoringExporter::open(std::move(options));
  }
  void is_ready() {
    google_.on(kMachine + "project/project-id", 200, "project-1");
    google_.on(kMachine + "instance/zone", 200, "projects/12/zones/us-east5-a");
    google_.on(kMachine + "instance/machine-type", 200, "projects/12/machineTypes/ct5p-hightpu-4t");
    google_.on(kMachine + "instance/attributes/cluster-name", 200, "c1");
  }
  void refuses(const std::string& causes) {
    google_.on(
        kWrites, 400,
        R"({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"One or more TimeSeries could not be written: )" +
            causes + R"("}})");
  }
  /// The next look.
  Status look(CloudMonitoringExporter& exporter) {
    ++update_.report.as_of_ns;
    return exporter.send(update_);
  }
  size_t sent(const std::string& what) {
    const std::string body = google_.last_body(kWrites);
    size_t count = 0;
    for (size_t at = body.find(what); at != std::string::npos; at = body.find(what, at + 1)) ++count;
    return count;
  }

  gcp::FakeGoogle google_;
  Update update_;
};

TEST_F(CloudMonitoring, MetadataServerThatIsNotReadyDecidesNothing) {
  google_.on(kMachine + "project/project-id", 503, "");
  google_.on(kMachine + "project/project-id", 503, "");
  google_.on(kMachine + "instance/zone", 503, "");
  is_ready();
  google_.on(kWrites, 200, "{}");
  const auto exporter = open();
  ASSERT_TRUE(exporter.ok()) << exporter.status().message();
  EXPECT_EQ(google_.count(kMachine + "project/project-id"), 0U);  // to open asks nobody
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look(**exporter).code(), StatusCode::kUnavailable);
  EXPECT_EQ(google_.count(kWrites), 0U);
  EXPECT_TRUE(look(**exporter).ok());
  EXPECT_THAT(google_.last_body(kWrites), HasSubstr(R"("location":"us-east5-a")"));
  EXPECT_THAT(google_.last_body(kWrites), HasSubstr(R"("accelerator_type":"TPU-v5p","cluster_name":"c1")"));
}

TEST_F(CloudMonitoring, NamedProjectWaitsForTheRestToo) {
  google_.on(kMachine + "instance/zone", 503, "");
  is_ready();
  google_.on(kWrites, 200, "{}");
  const auto exporter = open({.project = "project-1"});
  EXPECT_EQ(look(**exporter).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(look(**exporter).ok());
  EXPECT_THAT(google_.last_body(kWrites), Not(HasSubstr("global")));
}

TEST_F(CloudMonitoring, WhereNoProjectIsKnownItFailsOrIsLeftAloneAsWanted) {
  EXPECT_EQ(open({}, {{"NO_GCE_CHECK", "true"}}).status().code(), StatusCode::kInvalidArgument);
  std::vector<std::string> told;
  const CloudMonitoringOptions quiet{.tell = [&](const std::string& words) { told.push_back(words); },
                                     .may_go_without = true};
  for (const auto& [options, is_off] : {std::pair(CloudMonitoringOptions{}, false), std::pair(quiet, true)}) {
    const auto exporter = open(options, {{"GCE_METADATA_HOST", "127.0.0.1:1"}});
    ASSERT_TRUE(exporter.ok());
    EXPECT_EQ((*exporter)->name(), "cloud-monitoring auto");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(look(**exporter).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ((*exporter)->is_off(), is_off);
  }
  EXPECT_THAT(told, testing::ElementsAre(HasSubstr("going on without: writing to Cloud Monitoring: no project")));
}

TEST_F(CloudMonitoring, SeriesThatIsRefusedForGoodIsCountedAndLeftOutWhileOthersArrive) {
  is_ready();
  refuses("Unrecognized metric labels: [a]: timeSeries[3-4]");
  google_.on(kWrites, 200, "{}");
  const auto exporter = open();
  EXPECT_TRUE(look(**exporter).ok());
  const size_t all = sent("\"points\"");
  EXPECT_EQ((*exporter)->rejected(), 2U);
  EXPECT_TRUE(look(**exporter).ok());
  EXPECT_EQ(sent("\"points\""), all - 2);
  EXPECT_EQ((*exporter)->rejected(), 2U);
}

TEST_F(CloudMonitoring, WhereEverySeriesIsRefusedTheSinkIsNotWell) {
  is_ready();
  refuses("The resource type x is unknown.: timeSeries[0-13]");
  const auto exporter = open();
  for (int i = 0; i < 3; ++i) {
    const Status refused = look(**exporter);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("The resource type x is unknown."));
    EXPECT_EQ(sent("\"points\""), 14U);
  }
  EXPECT_EQ((*exporter)->rejected(), 0U);
}

TEST_F(CloudMonitoring, OfALookThatIsTriedAgainWhatIsRefusedForGoodIsLeftOut) {
  is_ready();
  refuses("Internal error encountered.: timeSeries[1]; Unrecognized metric labels: [a]: timeSeries[2]");
  google_.on(kWrites, 200, "{}");
  const auto exporter = open();
  EXPECT_EQ(look(**exporter).code(), StatusCode::kUnavailable);
  EXPECT_TRUE((*exporter)->send(update_).ok());
  EXPECT_EQ(sent("\"points\""), 1U);
  EXPECT_EQ((*exporter)->rejected(), 1U);
}

TEST_F(CloudMonitoring, EachSetOfSeriesIsClaimedOnceByWhatTellsItApart) {
  is_ready();
  google_.on(kWrites, 200, "{}");
  std::vector<std::string> claimed;
  const CloudMonitoringOptions options{.replica = "3", .claim = [&](const std::string& set) {
                                         claimed.push_back(set);
                                         return Status();
                                       }};
  const auto automatic = open(options);
  CloudMonitoringOptions named = options;
  named.project = "project-1";
  const auto typed = open(named);
  update_.report.windows = {{.window_seconds = 60, .elapsed_seconds = 100, .goodput_percent = 1}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(look(**automatic).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(look(**typed).ok());
  const auto set = [](const std::string& which) {
    return "the " + which +
           " series compute.googleapis.com/workload/ of \"llama-7b\" in project project-1, us-east5-a, " + "replica 3";
  };
  EXPECT_THAT(claimed, testing::ElementsAre(set("cumulative"), set("rolling"), set("cumulative"), set("rolling")));
}

TEST_F(CloudMonitoring, SetThatIsSomebodyElsesIsNotWrittenAndTheOtherIs) {
  is_ready();
  google_.on(kWrites, 200, "{}");
  bool is_held = true;
  std::vector<std::string> told;
  const auto exporter = open({.tell = [&](const std::string& words) { told.push_back(words); },
                              .claim =
                                  [&](const std::string& set) {
                                    const bool is_others = is_held && set.find("cumulative") != std::string::npos;
                                    return is_others ? Status(StatusCode::kAlreadyExists, "held") : Status();
                                  }});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(look(**exporter).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(google_.count(kWrites), 0U);
  update_.report.windows = {{.window_seconds = 60, .elapsed_seconds = 100, .goodput_percent = 1}};
  EXPECT_TRUE(look(**exporter).ok());
  EXPECT_EQ(sent("/goodput_time"), 0U);
  EXPECT_EQ(sent("/interval_goodput"), 1U);
  EXPECT_THAT(told, testing::ElementsAre("held"));
  is_held = false;
  EXPECT_TRUE(look(**exporter).ok());
  EXPECT_EQ(sent("/goodput_time"), 1U);
}

}  // namespace
}  // namespace goodput::exporters
