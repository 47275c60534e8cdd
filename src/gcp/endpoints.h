// Where Google's APIs are, and who we are to them.
//
//   const Endpoint logging = logging_endpoint(environment);
//   ASSIGN_OR_RETURN(auto credentials, credentials_for(logging, {}));
//   RestClient client(credentials, {});
//   client.send({.url = logging.url + "/v2/entries:write", .body = …});
//
// GOODPUT_LOGGING_ENDPOINT, GOODPUT_MONITORING_ENDPOINT and GOODPUT_STORAGE_ENDPOINT name others (a private endpoint, a
// test's server); STORAGE_EMULATOR_HOST an emulator, which wants no credentials. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/environment.h"
#include "gcp/credentials.h"

namespace goodput::gcp {

struct Endpoint {
  std::string url;           ///< without a slash at its end
  bool is_usual = true;      ///< Google's own
  bool is_emulator = false;  ///< asked without credentials
};

Endpoint logging_endpoint(const Environment& environment);
Endpoint monitoring_endpoint(const Environment& environment);
Endpoint storage_endpoint(const Environment& environment);
/// Tells who may do what in a project; GOODPUT_RESOURCE_MANAGER_ENDPOINT names another.
Endpoint resource_manager_endpoint(const Environment& environment);

/// As Credentials::find(); nobody's for an emulator, and for an endpoint that is not Google's where there are none.
Result<std::shared_ptr<Credentials>> credentials_for(const Endpoint& endpoint, const CredentialsOptions& options);

}  // namespace goodput::gcp
