// The dashboards and rules of the folder dashboards/, as they were when this program was built.
//
//   const Dashboard* grafana = find_dashboard("grafana");
//
// They live as long as the process. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace goodput::dashboards {

struct Dashboard {
  std::string_view name;  ///< "cloud-monitoring", "jobset", "grafana" or "rules"
  std::string_view text;  ///< JSON; of the rules YAML
};

/// Null when there is none of that name.
const Dashboard* find_dashboard(std::string_view name);

}  // namespace goodput::dashboards
