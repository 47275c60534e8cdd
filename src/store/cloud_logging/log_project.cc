// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_project.h"

#include "gcp/endpoints.h"
#include "gcp/environment.h"

namespace goodput::store {

Result<LogAddress> with_project(LogAddress address, const Environment& environment,
                                const std::atomic<bool>* is_cancelled) {
  if (address.project != kAutoProject) return address;
  ASSIGN_OR_RETURN(const auto credentials,
                   gcp::credentials_for(gcp::logging_endpoint(environment),
                                        {.environment = environment, .is_cancelled = is_cancelled}));
  address.project = gcp::named_project(environment, credentials->project());
  if (address.project.empty()) {
    address.project = gcp::read_cloud_environment(environment, {.is_cancelled = is_cancelled}).project;
  }
  if (address.project.empty()) {
    return Status(StatusCode::kNotFound, "looking for the project of the log " + address.log +
                                             ": none is known here; GOOGLE_CLOUD_PROJECT names one");
  }
  return address;
}

}  // namespace goodput::store
