// Whether what goes to Google Cloud may go there.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "doctor/checks.h"

namespace goodput::doctor {
namespace {

constexpr std::string_view kScopePrefix = "https://www.googleapis.com/auth/";

struct ScopeNeed {
  std::string_view what;
  std::vector<std::string_view> any_of;  ///< behind the prefix
};

const std::vector<ScopeNeed>& scope_needs() {
  static const std::vector<ScopeNeed> needs = {
      {"logging", {"cloud-platform", "logging.write", "logging.admin"}},
      {"monitoring", {"cloud-platform", "monitoring.write", "monitoring"}},
      {"storage", {"cloud-platform", "devstorage.read_write", "devstorage.full_control"}},
  };
  return needs;
}

bool allows(const std::vector<std::string>& scopes, const ScopeNeed& need) {
  return std::any_of(scopes.begin(), scopes.end(), [&](std::string_view scope) {
    if (!scope.starts_with(kScopePrefix)) return false;
    scope.remove_prefix(kScopePrefix.size());
    return std::find(need.any_of.begin(), need.any_of.end(), scope) != need.any_of.end();
  });
}

bool is_of_storage(const std::string& permission) { return permission.starts_with("storage."); }

}  // namespace

Opinion check_credentials(const Facts& facts) {
  const GoogleFacts& google = *facts.google;
  if (!google.credentials_trouble.empty()) {
    return {
        Verdict::kRed, google.credentials_trouble + ".",
        "Run `gcloud auth application-default login`, or let GOOGLE_APPLICATION_CREDENTIALS name a key file, or give "
        "the machine a service account."};
  }
  if (google.project.empty()) {
    return {Verdict::kYellow, fmt::format("A token was had from {}, and no project is known.", google.identity),
            "Name it with --project or GOOGLE_CLOUD_PROJECT."};
  }
  return {.seen = fmt::format("{}, for project {}.", google.identity, google.project)};
}

Opinion check_permissions(const Facts& facts) {
  const GoogleFacts& google = *facts.google;
  if (!google.permissions_trouble.empty()) {
    return {
        Verdict::kYellow, fmt::format("They could not be asked for: {}.", google.permissions_trouble),
        "Enable cloudresourcemanager.googleapis.com to have them checked; what is refused shows in `goodput monitor "
        "--status`."};
  }
  if (google.missing_permissions.empty()) {
    return {.seen = fmt::format("Everything that is needed is granted in project {}.", google.project)};
  }
  const bool is_storage_only =
      std::all_of(google.missing_permissions.begin(), google.missing_permissions.end(), is_of_storage);
  return {
      is_storage_only ? Verdict::kYellow : Verdict::kRed,
      fmt::format("Not granted in project {}: {}.{}", google.project, fmt::join(google.missing_permissions, ", "),
                  is_storage_only ? " Only gs:// folders need it, and a bucket may grant it by itself." : ""),
      is_storage_only
          ? "Grant roles/storage.objectUser on the bucket, where there is one."
          : "Grant roles/logging.logWriter, roles/logging.viewer and roles/monitoring.metricWriter to this identity."};
}

Opinion check_scopes(const Facts& facts) {
  const GoogleFacts& google = *facts.google;
  if (!google.machine_scopes.has_value()) {
    return {.seen = "These credentials are not the machine's: its access scopes do not limit them."};
  }
  std::vector<std::string_view> lacking;
  for (const ScopeNeed& need : scope_needs()) {
    if (!allows(*google.machine_scopes, need)) lacking.push_back(need.what);
  }
  if (lacking.empty()) return {.seen = "They allow logging, monitoring and storage."};
  const bool is_storage_only = lacking == std::vector<std::string_view>{"storage"};
  return {is_storage_only ? Verdict::kYellow : Verdict::kRed,
          fmt::format("They do not allow {}, whatever the service account may do.", fmt::join(lacking, " and ")),
          "A node pool's scopes cannot be changed: make a new one with --scopes=cloud-platform. A machine's can while "
          "it is stopped. A key file or workload identity is not limited by them."};
}

Opinion check_apis(const Facts& facts) {
  const GoogleFacts& google = *facts.google;
  if (google.disabled_apis.empty()) {
    return {.seen = google.apis_trouble.empty() ? "Logging and Monitoring are enabled."
                                                : fmt::format("None is known to be off: {}.", google.apis_trouble)};
  }
  return {Verdict::kRed,
          fmt::format("Not enabled in project {}: {}.", google.project, fmt::join(google.disabled_apis, ", ")),
          fmt::format("gcloud services enable {} --project {}", fmt::join(google.disabled_apis, " "), google.project)};
}

}  // namespace goodput::doctor
