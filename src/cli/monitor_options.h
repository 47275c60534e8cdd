// The options of `goodput monitor`, as typed and as meant.
//
//   auto options = std::make_shared<MonitorOptions>();
//   add_monitor_options(app, *options);
//   …
//   Result<MonitorPlan> plan = resolve(*options);
//
// The option struct must live as long as the app. Nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cli/price_options.h"
#include "gcp/bucket_address.h"
#include "store/cloud_logging/log_address.h"

namespace CLI {
class App;
}

namespace goodput::cli {

/// Cloud Monitoring, as typed and as meant; empty: found out.
struct CloudOptions {
  std::string project;  ///< "auto": found out; empty: nothing is exported there
  std::string location, cluster, accelerator;
  std::string replica = "0";
  std::string metric_prefix;
  std::string write_period = "10s";
};

/// As typed.
struct MonitorOptions {
  std::string job;
  std::string interval = "30s";
  std::vector<std::string> windows;
  std::string tensorboard;
  std::string prometheus;
  CloudOptions cloud;
  std::string remote_write;
  std::string otlp;
  std::string ship;
  std::string linger = "60s";
  std::string flush_timeout = "10s";
  std::string retention;
  PriceOptions price;
  bool once = false;
  bool follow = false;
  bool wait = false;
  int control = -1;
  bool status = false;
};

/// As meant.
struct MonitorPlan {
  std::string job;
  int64_t interval_ns = 0;
  std::vector<int64_t> windows_ns;
  std::string tensorboard;                          ///< empty: none
  std::string prometheus;                           ///< empty: none
  std::string remote_write;                         ///< empty: none
  std::string otlp;                                 ///< empty: none; "env": as the OTEL_* variables say
  std::optional<store::LogAddress> ship;            ///< where events go to …
  std::optional<gcp::BucketAddress> ship_journals;  ///< … or their journals
  CloudOptions cloud;
  int64_t cloud_write_period_ns = 0;
  int64_t linger_ns = 0;
  int64_t flush_timeout_ns = 0;
  std::optional<int64_t> retention_ns;  ///< of a store: how old what counts may be
  PriceChoice price;
  bool once = false, follows = false, waits = false;
  int control_fd = -1;       ///< from where a training process commands; negative: from nowhere
  bool asks_status = false;  ///< nothing else counts then
};

void add_monitor_options(CLI::App& app, MonitorOptions& options);

/// kInvalidArgument, naming the option, for what makes no sense.
Result<MonitorPlan> resolve(const MonitorOptions& options);

/// kInvalidArgument: --ship and the agent's --to take no such address.
Status check_ship_address(const std::string& url);

/// What is in effect, by the options' names without their dashes; passwords in addresses are left out.
std::vector<std::pair<std::string, std::string>> in_effect(const MonitorOptions& options);

}  // namespace goodput::cli
