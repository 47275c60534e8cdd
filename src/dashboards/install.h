// Puts the dashboards of Cloud Monitoring into a project, or brings those that are there up to date.
//
//   gcp::RestClient client(credentials, {});
//   Result<std::vector<Installed>> all = install(client, endpoint.url, "my-project", Rehearsal::kNo);
//   if (!all.ok()) return context.fail("dashboards", all.status());
//
// A dashboard of ours is known by its name and its label `goodput`: a second call replaces it, and others of that name
// are left alone. Asks the server a few times; one thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "gcp/rest.h"

namespace goodput::dashboards {

struct Installed {
  std::string title;
  std::string resource;    ///< "projects/P/dashboards/ID"; empty: it would be made
  bool was_there = false;  ///< replaced, else new
};

/// kYes: the server only says whether it would take them.
enum class Rehearsal : bool { kNo, kYes };

/// The first failure ends it, with what was being done. `endpoint_url`: Cloud Monitoring's.
Result<std::vector<Installed>> install(gcp::RestClient& client, const std::string& endpoint_url,
                                       const std::string& project, Rehearsal rehearsal);

}  // namespace goodput::dashboards
