// SPDX-License-Identifier: Apache-2.0
#include "dashboards/install.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/foreign_json.h"
#include "base/web_text.h"
#include "dashboards/dashboards.h"

namespace goodput::dashboards {
namespace {

using Json = nlohmann::json;

constexpr const char* kInstalledNames[] = {"cloud-monitoring", "jobset"};
constexpr const char* kLabel = "goodput";
// A project has at most 1,000 dashboards, 100 or more a page: a server that has yet more pages is going round in
// circles.
constexpr int kMostPages = 100;

struct There {
  std::string resource, etag;
};

bool is_ours(const Json& dashboard, const std::string& title) {
  if (!dashboard.is_object() || text_of(dashboard, "displayName") != title) return false;
  const auto labels = dashboard.find("labels");
  return labels != dashboard.end() && labels->is_object() && labels->contains(kLabel);
}

/// The one of ours that is there with this title.
Result<std::optional<There>> find(gcp::RestClient& client, const std::string& url, const std::string& title) {
  std::string page;
  for (int pages = 0; pages < kMostPages; ++pages) {
    const std::string query = page.empty() ? "" : "?pageToken=" + percent_encoded(page);
    const gcp::RestAnswer answer = client.send({.method = "GET", .url = url + query});
    if (answer.error) return answer.error->to_status("listing dashboards");
    const Json list = parse_foreign_json<Json>(answer.body);
    if (!list.is_object()) return Status(StatusCode::kUnreadable, "listing dashboards: the answer is no JSON object");
    for (const Json& dashboard : list.value("dashboards", Json::array())) {
      if (is_ours(dashboard, title)) {
        return std::optional(There{text_of(dashboard, "name"), text_of(dashboard, "etag")});
      }
    }
    page = text_of(list, "nextPageToken");
    if (page.empty()) return std::optional<There>();
  }
  return Status(StatusCode::kUnreadable, "listing dashboards: there is no end of pages");
}

Result<Installed> put(gcp::RestClient& client, const std::string& endpoint_url, const std::string& project,
                      const Dashboard& dashboard, Rehearsal rehearsal) {
  Json body = Json::parse(dashboard.text);
  Installed installed{.title = text_of(body, "displayName"), .resource = {}};
  const std::string all = endpoint_url + "/v1/projects/" + project + "/dashboards";
  ASSIGN_OR_RETURN(const std::optional<There> there, find(client, all, installed.title));
  installed.was_there = there.has_value();
  gcp::RestRequest request{.url = all};
  if (there.has_value()) {
    body["name"] = installed.resource = there->resource;
    body["etag"] = there->etag;
    request.method = "PATCH";
    request.url = endpoint_url + "/v1/" + there->resource;
  }
  if (rehearsal == Rehearsal::kYes) request.url += "?validateOnly=true";
  request.body = body.dump();
  const gcp::RestAnswer answer = client.send(request);
  if (answer.error) return answer.error->to_status("installing the dashboard \"" + installed.title + "\"");
  const Json made = parse_foreign_json<Json>(answer.body);
  if (!installed.was_there && rehearsal == Rehearsal::kNo && made.is_object())
    installed.resource = text_of(made, "name");
  return installed;
}

}  // namespace

Result<std::vector<Installed>> install(gcp::RestClient& client, const std::string& endpoint_url,
                                       const std::string& project, Rehearsal rehearsal) {
  std::vector<Installed> all;
  for (const char* name : kInstalledNames) {
    ASSIGN_OR_RETURN(Installed installed, put(client, endpoint_url, project, *find_dashboard(name), rehearsal));
    all.push_back(std::move(installed));
  }
  return all;
}

}  // namespace goodput::dashboards
