// Where on Google Cloud this program runs, as far as somebody tells.
//
//   const CloudEnvironment here = read_cloud_environment(system_environment(), {.project = credentials->project()});
//   if (!here.project.empty()) ship_to(here.project);
//
// Environment variables come first, then the credential file's and gcloud's words, then the metadata server. Off Google
// Cloud it costs at most the time that is allowed, whatever the network does. Thread-safe, nothing kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/environment.h"

namespace goodput::gcp {

/// What is not known is empty.
struct CloudEnvironment {
  std::string project;
  std::string zone;              ///< "us-east5-a"
  std::string machine_type;      ///< "ct5p-hightpu-4t"
  std::string cluster;           ///< of GKE
  std::string cluster_location;  ///< of GKE: a zone or a region
  std::string instance_id;
  /// There is a metadata server, or the machine is Google's, and it cannot tell now: what is empty may be known soon.
  bool may_tell_later = false;
};

struct CloudEnvironmentOptions {
  std::string project{};               ///< of the credentials; empty: they name none
  int64_t timeout_ns = 1'000'000'000;  ///< for all of it
  const std::atomic<bool>* is_cancelled = nullptr;
  /// Where the firmware says whose machine it is.
  const char* product_name_file = "/sys/class/dmi/id/product_name";
};

CloudEnvironment read_cloud_environment(const Environment& environment, const CloudEnvironmentOptions& options);

/// The project alone, without asking the metadata server: quick, and empty where nobody named one.
std::string named_project(const Environment& environment, const std::string& credentials_project);

}  // namespace goodput::gcp
