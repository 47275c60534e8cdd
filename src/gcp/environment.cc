// SPDX-License-Identifier: Apache-2.0
#include "gcp/environment.h"

#include <utility>

#include "base/clock.h"
#include "gcp/gcloud_config.h"
#include "gcp/metadata.h"
#include "gcp/read_text_file.h"

namespace goodput::gcp {
namespace {

/// "projects/1234/zones/us-east5-a" → "us-east5-a"
std::string last_component(std::string path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Whether a metadata server that gives no answer at all is nevertheless to be expected: not where somebody has named
/// one, who would know.
bool should_have_metadata(const Environment& environment, const char* product_name_file) {
  for (const char* variable : {"GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"}) {
    if (environment(variable)) return false;
  }
  const Result<std::string> product = read_text_file(product_name_file, "reading the machine's name");
  return product.ok() && product->starts_with("Google");
}

}  // namespace

std::string named_project(const Environment& environment, const std::string& credentials_project) {
  for (const char* variable : {"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"}) {
    if (const auto named = environment(variable)) return *named;
  }
  return credentials_project.empty() ? gcloud_project(environment) : credentials_project;
}

CloudEnvironment read_cloud_environment(const Environment& environment, const CloudEnvironmentOptions& options) {
  CloudEnvironment here{.project = named_project(environment, options.project),
                        .zone = {},
                        .machine_type = {},
                        .cluster = {},
                        .cluster_location = {},
                        .instance_id = {},
                        .may_tell_later = false};
  if (has_no_metadata(environment)) return here;
  struct Question {
    const char* path;
    std::string CloudEnvironment::*answer;
  };
  constexpr Question kQuestions[] = {
      {"project/project-id", &CloudEnvironment::project},
      {"instance/zone", &CloudEnvironment::zone},
      {"instance/machine-type", &CloudEnvironment::machine_type},
      {"instance/attributes/cluster-name", &CloudEnvironment::cluster},
      {"instance/attributes/cluster-location", &CloudEnvironment::cluster_location},
      {"instance/id", &CloudEnvironment::instance_id},
  };
  const int64_t until_ns = boot_time_ns() + options.timeout_ns;
  for (const auto& [path, member] : kQuestions) {
    if (!(here.*member).empty()) continue;
    const int64_t left_ns = until_ns - boot_time_ns();
    if (left_ns <= 0) {
      here.may_tell_later = true;  // so far it has answered
      break;
    }
    // Each with the time that is left, which is a client's to know when it is made.
    MetadataServer server(environment, {.timeout_ns = left_ns, .is_cancelled = options.is_cancelled});
    Result<std::string> answer = server.read(path);
    if (answer.ok()) here.*member = last_component(std::move(answer).value());
    if (answer.status().code() == StatusCode::kUnavailable) {
      here.may_tell_later = server.has_answered() || should_have_metadata(environment, options.product_name_file);
      break;
    }
  }
  return here;
}

}  // namespace goodput::gcp
