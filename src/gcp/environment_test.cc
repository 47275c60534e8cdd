// SPDX-License-Identifier: Apache-2.0
#include "gcp/environment.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <filesystem>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "gcp/accelerators.h"
#include "gcp/cloud_surroundings.h"
#include "gcp/fake_google.h"
#include "gcp/gcloud_config.h"
#include "gcp/test_key.h"

namespace goodput::gcp {
namespace {

const std::string kMetadata = "GET /computeMetadata/v1/";

TEST(CloudEnvironment, IsWhatTheMetadataServerSays) {
  FakeGoogle google;
  google.with_header("Metadata-Flavor: Google\r\n");
  google.on(kMetadata + "project/project-id", 200, "project-1");
  google.on(kMetadata + "instance/zone", 200, "projects/12/zones/us-east5-a");
  google.on(kMetadata + "instance/machine-type", 200, "projects/12/machineTypes/ct5p-hightpu-4t");
  google.on(kMetadata + "instance/attributes/cluster-name", 200, "cluster-1");
  google.on(kMetadata + "instance/attributes/cluster-location", 404, "");
  google.on(kMetadata + "instance/id", 200, "987654321");
  const CloudEnvironment here =
      read_cloud_environment(variables({{"GCE_METADATA_HOST", google.host()}, {"HOME", "/nonexistent"}}), {});
  EXPECT_EQ(here.project, "project-1");
  EXPECT_EQ(here.zone, "us-east5-a");
  EXPECT_EQ(here.machine_type, "ct5p-hightpu-4t");
  EXPECT_EQ(here.cluster, "cluster-1");
  EXPECT_EQ(here.cluster_location, "");
  EXPECT_EQ(here.instance_id, "987654321");
}

TEST(CloudEnvironment, ServerThatHangsOrIsNotThereCostsNoMoreThanIsAllowed) {
  LoopbackServer hanging([](int connection) {
    pollfd end{connection, POLLRDHUP, 0};
    (void)read_request(connection);
    (void)::poll(&end, 1, 5000);
  });
  for (const std::string& host : {hanging.host(), std::string("127.0.0.1:1")}) {
    const auto start = std::chrono::steady_clock::now();
    const CloudEnvironment here =
        read_cloud_environment(variables({{"GCE_METADATA_HOST", host}, {"HOME", "/nonexistent"}}),
                               {.project = "named", .timeout_ns = 300'000'000});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1000));
    EXPECT_EQ(here.project, "named");
    EXPECT_EQ(here.zone, "");
  }
}

TEST(CloudEnvironment, WhatIsNotReadyIsToldApartFromWhatIsNotThere) {
  const TemporaryFolder folder;
  const std::string firmware = folder.path() + "/product_name";
  const auto may_tell_later = [&](std::map<std::string, std::string> set) {
    set["HOME"] = "/nonexistent";
    return read_cloud_environment(variables(std::move(set)),
                                  {.timeout_ns = 300'000'000, .product_name_file = firmware.c_str()})
        .may_tell_later;
  };
  for (const char* header : {"", "Metadata-Flavor: Google\r\n"}) {
    for (const int status : {429, 500, 503}) {
      FakeGoogle google;
      google.with_header(header);
      google.on(kMetadata + "project/project-id", status, "");
      EXPECT_TRUE(may_tell_later({{"GCE_METADATA_HOST", google.host()}})) << header << status;
      EXPECT_FALSE(may_tell_later({{"GCE_METADATA_HOST", google.host()}, {"NO_GCE_CHECK", "true"}}));
    }
  }
  FakeGoogle impostor;
  impostor.on(kMetadata + "project/project-id", 200, "stolen");
  EXPECT_FALSE(may_tell_later({{"GCE_METADATA_HOST", impostor.host()}}));
  EXPECT_FALSE(may_tell_later({{"GCE_METADATA_HOST", "127.0.0.1:1"}}));
  write_text(firmware, "Google Compute Engine\n");
  EXPECT_FALSE(may_tell_later({{"GCE_METADATA_HOST", "127.0.0.1:1"}}));  // who names one knows
}

class Surroundings : public testing::Test {
 protected:
  Surroundings() { google_.with_header("Metadata-Flavor: Google\r\n"); }
  CloudSurroundings surroundings() {
    return {variables({{"GCE_METADATA_HOST", google_.host()}, {"HOME", "/nonexistent"}}), {.project = "named"}, clock_};
  }

  ManualClock clock_;
  FakeGoogle google_;
};

TEST_F(Surroundings, NothingIsRememberedBeforeTheServerIsReady) {
  google_.on(kMetadata + "instance/zone", 503, "");
  google_.on(kMetadata + "instance/zone", 200, "projects/12/zones/us-east5-a");
  CloudSurroundings here = surroundings();
  EXPECT_EQ(here.read().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(here.read()->zone, "us-east5-a");
  EXPECT_EQ(here.read()->project, "named");
  EXPECT_EQ(google_.count(kMetadata + "instance/zone"), 2U);  // what is known is not asked again
}

TEST_F(Surroundings, ServerThatIsNeverReadyIsGivenUpAfterAMinute) {
  google_.on(kMetadata + "instance/zone", 503, "");
  CloudSurroundings here = surroundings();
  EXPECT_EQ(here.read().status().code(), StatusCode::kUnavailable);
  clock_.advance(kMetadataPatienceNs - 1);
  EXPECT_EQ(here.read().status().code(), StatusCode::kUnavailable);
  clock_.advance(1);
  EXPECT_EQ(here.read()->zone, "");
  EXPECT_EQ(here.read()->project, "named");
  EXPECT_EQ(google_.count(kMetadata + "instance/zone"), 3U);
}

TEST_F(Surroundings, WhereThereIsNoServerNobodyWaits) {
  CloudSurroundings here(variables({{"GCE_METADATA_HOST", "127.0.0.1:1"}, {"HOME", "/nonexistent"}}), {}, clock_);
  EXPECT_EQ(here.read()->zone, "");
}

TEST(CloudEnvironment, ProjectIsTakenFromVariablesThenCredentialsThenGcloud) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/configurations");
  write_text(folder.path() + "/configurations/config_default", "[core]\nproject = from-gcloud\n[compute]\nzone = z\n");
  const auto project = [&](std::map<std::string, std::string> set, const std::string& of_credentials) {
    set["CLOUDSDK_CONFIG"] = folder.path();
    return named_project(variables(std::move(set)), of_credentials);
  };
  EXPECT_EQ(project({{"GOOGLE_CLOUD_PROJECT", "a"}, {"GCLOUD_PROJECT", "b"}}, "c"), "a");
  EXPECT_EQ(project({{"GCLOUD_PROJECT", "b"}}, "c"), "b");
  EXPECT_EQ(project({}, "c"), "c");
  EXPECT_EQ(project({}, ""), "from-gcloud");
  write_text(folder.path() + "/active_config", "other\n");
  EXPECT_EQ(project({}, ""), "");
  write_text(folder.path() + "/configurations/config_other", "[core]\nproject=from-other\n");
  EXPECT_EQ(project({}, ""), "from-other");
}

TEST(GcloudConfig, ValueIsThatOfItsSection) {
  EXPECT_EQ(ini_value("[a]\nx = 1\n[b]\r\n x=2 \r\n", "b", "x"), "2");
  EXPECT_EQ(ini_value("[a]\nx = 1\n", "b", "x"), "");
  EXPECT_EQ(ini_value("x = 1", "", "x"), "");
  EXPECT_EQ(ini_value("[b]\nx", "b", "x"), "");
}

TEST(Accelerators, LabelsAreThoseOfDashboards) {
  const Environment none = variables({});
  const std::pair<const char*, const char*> all[] = {
      {"tpu7x-standard-4t", "TPU-7x"},    {"ct6e-standard-4t", "TPU-v6e"},
      {"ct5p-hightpu-4t", "TPU-v5p"},     {"ct5lp-hightpu-4t", "TPU-v5e"},
      {"ct5l-hightpu-8t", "TPU-v5e"},     {"ct4p-hightpu-4t", "TPU-v4p"},
      {"ct3-hightpu-4t", "TPU-v3"},       {"ct3p-hightpu-4t", "TPU-v3"},
      {"a3-highgpu-8g", "NVIDIA-H100"},   {"A3-MegaGPU-8g", "NVIDIA-H100"},
      {"a3-ultragpu-8g", "NVIDIA-H200"},  {"a2-highgpu-1g", "NVIDIA-A100"},
      {"a4-highgpu-8g", "NVIDIA-B200"},   {"a4x-highgpu-4g", "NVIDIA-GB200"},
      {"g2-standard-8", "NVIDIA-L4"},     {"x-gpu-1", "GPU"},
      {"n2-standard-8", "n2-standard-8"}, {"", "UNKNOWN"},
  };
  for (const auto& [machine_type, label] : all) EXPECT_EQ(accelerator_label(machine_type, none), label);
}

TEST(Accelerators, OwnMapComesFirst) {
  const Environment own = variables({{"GOODPUT_ACCELERATOR_MAP", "=x,junk,A4-highgpu=MY-B200,n2=CPU"}});
  EXPECT_EQ(accelerator_label("a4-highgpu-8g", own), "MY-B200");
  EXPECT_EQ(accelerator_label("n2-standard-8", own), "CPU");
  EXPECT_EQ(accelerator_label("ct5p-hightpu-4t", own), "TPU-v5p");
}

}  // namespace
}  // namespace goodput::gcp
