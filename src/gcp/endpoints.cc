// SPDX-License-Identifier: Apache-2.0
#include "gcp/endpoints.h"

namespace goodput::gcp {
namespace {

std::string with_scheme(std::string url, const char* scheme) {
  while (!url.empty() && url.back() == '/') url.pop_back();
  return url.find("://") == std::string::npos ? scheme + url : url;
}

Endpoint endpoint(const Environment& environment, const char* variable, const char* usual) {
  const auto named = environment(variable);
  if (!named) return {.url = usual};
  return {.url = with_scheme(*named, "https://"), .is_usual = false};
}

}  // namespace

Endpoint logging_endpoint(const Environment& environment) {
  return endpoint(environment, "GOODPUT_LOGGING_ENDPOINT", "https://logging.googleapis.com");
}

Endpoint monitoring_endpoint(const Environment& environment) {
  return endpoint(environment, "GOODPUT_MONITORING_ENDPOINT", "https://monitoring.googleapis.com");
}

Endpoint resource_manager_endpoint(const Environment& environment) {
  return endpoint(environment, "GOODPUT_RESOURCE_MANAGER_ENDPOINT", "https://cloudresourcemanager.googleapis.com");
}

Endpoint storage_endpoint(const Environment& environment) {
  if (const auto emulator = environment("STORAGE_EMULATOR_HOST")) {
    return {.url = with_scheme(*emulator, "http://"), .is_usual = false, .is_emulator = true};
  }
  return endpoint(environment, "GOODPUT_STORAGE_ENDPOINT", "https://storage.googleapis.com");
}

Result<std::shared_ptr<Credentials>> credentials_for(const Endpoint& endpoint, const CredentialsOptions& options) {
  if (endpoint.is_emulator) return Credentials::anonymous();
  Result<std::shared_ptr<Credentials>> found = Credentials::find(options);
  const bool is_without = !found.ok() && found.status().code() == StatusCode::kNotFound;
  return is_without && !endpoint.is_usual ? Result(Credentials::anonymous()) : found;
}

}  // namespace goodput::gcp
