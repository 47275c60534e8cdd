// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/foreign_json.h"
#include "doctor/gather.h"
#include "gcp/endpoints.h"
#include "gcp/environment.h"
#include "gcp/metadata.h"
#include "gcp/rest.h"

namespace goodput::doctor {
namespace {

constexpr std::array<const char*, 8> kPermissions = {
    "logging.logEntries.create",    "logging.logEntries.list",
    "monitoring.timeSeries.create", "monitoring.metricDescriptors.create",
    "storage.objects.create",       "storage.objects.get",
    "storage.objects.list",         "storage.objects.delete"};
// Each question; an answer that takes longer says enough.
constexpr int64_t kTimeoutNs = 5'000'000'000;
constexpr int64_t kFindProjectNs = 1'000'000'000;

std::string in_words(const gcp::ApiError& error) {
  return error.message.empty() ? "the answer was " + std::to_string(error.http_status) : error.message;
}

void ask_permissions(gcp::RestClient& client, const Environment& environment, GoogleFacts& google) {
  nlohmann::json question;
  question["permissions"] = kPermissions;
  const gcp::RestAnswer answer = client.send({.url = gcp::resource_manager_endpoint(environment).url + "/v1/projects/" +
                                                     google.project + ":testIamPermissions",
                                              .body = question.dump()});
  if (answer.error) {
    google.permissions_trouble = in_words(*answer.error);
    return;
  }
  const nlohmann::json granted = parse_foreign_json<nlohmann::json>(answer.body);
  if (!granted.is_object()) {
    google.permissions_trouble = "the answer makes no sense";
    return;
  }
  const nlohmann::json names = granted.value("permissions", nlohmann::json::array());
  for (const char* wanted : kPermissions) {
    if (std::find(names.begin(), names.end(), wanted) == names.end()) google.missing_permissions.emplace_back(wanted);
  }
}

/// Any question will do: an API that is off refuses all of them, with a reason of its own.
void ask_api(gcp::RestClient& client, const std::string& url, const char* name, GoogleFacts& google) {
  const gcp::RestAnswer answer = client.send({.method = "GET", .url = url});
  if (!answer.error) return;
  if (answer.error->reason == "SERVICE_DISABLED") {
    google.disabled_apis.emplace_back(name);
  } else if (!answer.error->is_refusal()) {
    google.apis_trouble = in_words(*answer.error);
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::optional<GoogleFacts> look_at_google(const Environment& environment, const std::string& project) {
  const gcp::CredentialsOptions options{
      .environment = environment, .timeout_ns = kTimeoutNs, .first_retry_ns = kTimeoutNs};
  const auto found = gcp::Credentials::find(options);
  const std::string machine = gcp::Credentials::of({}, options)->description();
  const bool is_machine = found.ok() && (*found)->description() == machine;
  GoogleFacts google{.project = project};
  if (google.project.empty()) {
    google.project = gcp::read_cloud_environment(
                         environment, {.project = found.ok() ? (*found)->project() : "", .timeout_ns = kFindProjectNs})
                         .project;
  }
  // The machine's own account is only a guess until somebody names a project: most machines are not Google's.
  const bool nobody_asks = google.project.empty() && (is_machine || found.status().code() == StatusCode::kNotFound);
  if (nobody_asks) return std::nullopt;
  if (!found.ok()) {
    google.credentials_trouble = found.status().message();
    return google;
  }
  google.identity = (*found)->description();
  if (const Result<std::string> token = (*found)->token(); !token.ok()) {
    google.credentials_trouble = token.status().message();
    return google;
  }
  if (is_machine) {
    gcp::MetadataServer server(environment, {.timeout_ns = kTimeoutNs});
    const Result<std::string> scopes = server.read("instance/service-accounts/default/scopes");
    if (scopes.ok()) google.machine_scopes = lines_of(*scopes);
  }
  if (google.project.empty()) return google;
  gcp::RestClient client(*found, {.timeout_ns = kTimeoutNs});
  ask_permissions(client, environment, google);
  const std::string of_project = "/projects/" + google.project;
  ask_api(client, gcp::logging_endpoint(environment).url + "/v2" + of_project + "/logs?pageSize=1",
          "logging.googleapis.com", google);
  ask_api(client, gcp::monitoring_endpoint(environment).url + "/v3" + of_project + "/metricDescriptors?pageSize=1",
          "monitoring.googleapis.com", google);
  return google;
}

}  // namespace goodput::doctor
