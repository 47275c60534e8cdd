// SPDX-License-Identifier: Apache-2.0
#include "dashboards/dashboards.h"

#include <array>

#include "dashboards/texts.h"

namespace goodput::dashboards {
namespace {

constexpr std::array kAll = {
    Dashboard{"cloud-monitoring", "cloud_monitoring.json", kCloudMonitoringText},
    Dashboard{"jobset", "jobset.json", kJobsetText},
    Dashboard{"grafana", "grafana.json", kGrafanaText},
    Dashboard{"rules", "prometheus_rules.yaml", kRulesText},
};

}  // namespace

std::span<const Dashboard> all_dashboards() { return kAll; }

const Dashboard* find_dashboard(std::string_view name) {
  for (const Dashboard& dashboard : kAll) {
    if (dashboard.name == name) return &dashboard;
  }
  return nullptr;
}

}  // namespace goodput::dashboards
