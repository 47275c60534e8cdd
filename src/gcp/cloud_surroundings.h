// Where on Google Cloud this program runs, for those who keep asking until it is known.
//
//   CloudSurroundings surroundings(environment, {.project = project});
//   ASSIGN_OR_RETURN(const CloudEnvironment here, surroundings.read());      // kUnavailable: come again
//
// On GKE the metadata server answers 503 for some seconds after a pod's start: what it is asked just then must not
// decide for the whole run. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/status.h"
#include "gcp/environment.h"

namespace goodput::gcp {

/// Since the first question: GKE's server is ready within half of that.
constexpr int64_t kMetadataPatienceNs = 60'000'000'000;

class CloudSurroundings {
 public:
  CloudSurroundings(Environment environment, CloudEnvironmentOptions options, const Clock& clock = system_clock())
      : environment_(std::move(environment)), options_(options), clock_(&clock) {}

  /// Asks, unless it is known. kUnavailable: there is a metadata server, it cannot tell yet, and it is less than a
  /// minute since it was asked first. What is known after that stands.
  Result<CloudEnvironment> read();

 private:
  Environment environment_;
  CloudEnvironmentOptions options_;
  const Clock* clock_;
  std::optional<int64_t> first_boot_ns_;
  std::optional<CloudEnvironment> known_;
};

}  // namespace goodput::gcp
