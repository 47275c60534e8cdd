// SPDX-License-Identifier: Apache-2.0
#include "dashboards/dashboards.h"

#include <array>

#include "dashboards/texts.h"

namespace goodput::dashboards {
namespace {

constexpr std::array kAll = {
    Dashboard{"cloud-monitoring", kCloudMonitoringText},
    Dashboard{"jobset", kJobsetText},
    Dashboard{"grafana", kGrafanaText},
    Dashboard{"rules", kRulesText},
};

}  // namespace

const Dashboard* find_dashboard(std::string_view name) {
  for (const Dashboard& dashboard : kAll) {
    if (dashboard.name == name) return &dashboard;
  }
  return nullptr;
}

}  // namespace goodput::dashboards
