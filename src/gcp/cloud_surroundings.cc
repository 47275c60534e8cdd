// SPDX-License-Identifier: Apache-2.0
#include "gcp/cloud_surroundings.h"

#include <utility>

namespace goodput::gcp {

Result<CloudEnvironment> CloudSurroundings::read() {
  if (known_.has_value()) return *known_;
  if (!first_boot_ns_.has_value()) first_boot_ns_ = clock_->boot_ns();
  CloudEnvironment here = read_cloud_environment(environment_, options_);
  if (here.may_tell_later && clock_->boot_ns() - *first_boot_ns_ < kMetadataPatienceNs) {
    return Status(StatusCode::kUnavailable, "asking the metadata server where this program runs: it cannot tell yet");
  }
  known_ = std::move(here);
  return *known_;
}

}  // namespace goodput::gcp
