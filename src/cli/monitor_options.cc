// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "base/http_client.h"
#include "base/time_text.h"
#include "exporters/http_sink.h"

namespace goodput::cli {
namespace {

Result<int64_t> duration(const char* option, const std::string& text) {
  const Result<int64_t> parsed = parse_duration(text);
  if (parsed.ok()) return *parsed;
  return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", option, parsed.status().message()));
}

void add_cloud_options(CLI::App& app, CloudOptions& cloud) {
  app.add_option("--cloud-monitoring", cloud.project, "write to Cloud Monitoring in that project; auto: this machine's")
      ->type_name("PROJECT");
  app.add_option("--cloud-location", cloud.location, "the zone that series name; by default this machine's")
      ->type_name("ZONE");
  app.add_option("--cloud-cluster", cloud.cluster, "the GKE cluster that series name; by default this machine's")
      ->type_name("NAME");
  app.add_option("--cloud-replica", cloud.replica, "the replica that series name; each monitor of a job needs its own")
      ->type_name("ID")
      ->capture_default_str();
  app.add_option("--cloud-accelerator", cloud.accelerator,
                 "the accelerator that series name; by default the job's, or this machine's")
      ->type_name("TYPE");
  app.add_option("--cloud-metric-prefix", cloud.metric_prefix,
                 "for projects of their own metrics, as custom.googleapis.com/goodput/")
      ->type_name("PREFIX");
  app.add_option("--cloud-write-period", cloud.write_period, "least time between two points of a series")
      ->type_name("DURATION")
      ->capture_default_str();
}

/// Every option that has a value, in a variable of its name: GOODPUT_FLUSH_TIMEOUT.
void take_from_environment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_items_expected_max() == 0 || !option->get_envname().empty())
      continue;
    std::string name = "GOODPUT_" + option->get_lnames().front();
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    option->envname(name);
  }
}

/// One for each word of each text: a variable holds several in one.
std::vector<std::string> words_of(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    for (size_t at = 0; (at = text.find_first_not_of(" ,", at)) != std::string::npos;) {
      const size_t end = std::min(text.find_first_of(" ,", at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

/// A log of events, or a bucket of journals.
Status parse_ship_address(const std::string& url, MonitorPlan& plan) {
  if (url.starts_with(gcp::kBucketScheme)) {
    ASSIGN_OR_RETURN(plan.ship_journals, gcp::parse_bucket_address(url));
  } else {
    ASSIGN_OR_RETURN(plan.ship, store::parse_log_address(url));
  }
  return {};
}

}  // namespace

Status check_ship_address(const std::string& url) {
  MonitorPlan plan;
  return parse_ship_address(url, plan);
}

void add_monitor_options(CLI::App& app, MonitorOptions& options) {
  app.add_option("job", options.job, "the job: NAME, its latest run, or NAME@RUN")->type_name("JOB")->required();
  app.add_option("--interval", options.interval, "time between two looks at the job")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--window", options.windows, "a rolling window that ends now, as 1h; may be given again")
      ->type_name("DURATION")
      ->allow_extra_args(false);
  app.add_option("--tensorboard", options.tensorboard, "write to DIR/goodput, for TensorBoard; gs://BUCKET/FOLDER too")
      ->type_name("DIR");
  app.add_option("--prometheus", options.prometheus, "serve /metrics there, for Prometheus")->type_name("HOST:PORT");
  add_cloud_options(app, options.cloud);
  app.add_option("--remote-write", options.remote_write, "send to there by Prometheus' remote write")->type_name("URL");
  app.add_option("--otlp", options.otlp, "send to there by OTLP; env: where the OTEL_* variables say")
      ->type_name("URL");
  app.add_option("--ship", options.ship,
                 "send what is recorded there too: cloud-logging://PROJECT/LOG or gs://BUCKET/FOLDER")
      ->type_name("URL");
  app.add_option("--linger", options.linger, "how long to watch on after the job has ended")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--flush-timeout", options.flush_timeout, "how long the last word may take at the end")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--retention", options.retention, "of a --store: how old what counts may be; by default 30d")
      ->type_name("DURATION");
  add_price_options(app, options.price);
  app.add_flag("--once", options.once, "look once, export, and end");
  app.add_flag("--follow", options.follow, "watch on for ever, downtime included");
  app.add_flag("--wait", options.wait, "wait for a job that does not exist yet");
  app.add_flag("--status", options.status, "say how the monitors of the job are, and nothing else");
  take_from_environment(app);
  // For programs only: what is said there is in cli/monitor_control.h.
  app.add_option("--control", options.control, "take commands from this descriptor")->type_name("FD")->group("");
}

Result<MonitorPlan> resolve(const MonitorOptions& options) {
  MonitorPlan plan{.job = options.job,
                   .windows_ns = {},
                   .tensorboard = options.tensorboard,
                   .prometheus = options.prometheus,
                   .remote_write = options.remote_write,
                   .otlp = options.otlp,
                   .ship = {},
                   .ship_journals = {},
                   .cloud = options.cloud,
                   .retention_ns = {},
                   .price = {},
                   .once = options.once,
                   .follows = options.follow,
                   .waits = options.wait,
                   .control_fd = options.control,
                   .asks_status = options.status};
  if (plan.asks_status) return plan;
  ASSIGN_OR_RETURN(plan.interval_ns, duration("--interval", options.interval));
  constexpr int64_t kLeastNs = 100'000'000;
  if (plan.interval_ns < kLeastNs) {
    return Status(StatusCode::kInvalidArgument, "--interval: it is to be 0.1 seconds or more");
  }
  for (const std::string& window : words_of(options.windows)) {
    ASSIGN_OR_RETURN(const int64_t length_ns, duration("--window", window));
    if (length_ns <= 0) return Status(StatusCode::kInvalidArgument, "--window: it is to be longer than 0");
    // "1h" and "60m" are one window: sinks refuse a series that comes twice.
    const auto& known = plan.windows_ns;
    if (std::find(known.begin(), known.end(), length_ns) == known.end()) plan.windows_ns.push_back(length_ns);
  }
  ASSIGN_OR_RETURN(plan.linger_ns, duration("--linger", options.linger));
  ASSIGN_OR_RETURN(plan.flush_timeout_ns, duration("--flush-timeout", options.flush_timeout));
  ASSIGN_OR_RETURN(plan.cloud_write_period_ns, duration("--cloud-write-period", options.cloud.write_period));
  if (!options.retention.empty()) {
    ASSIGN_OR_RETURN(plan.retention_ns, duration("--retention", options.retention));
  }
  ASSIGN_OR_RETURN(plan.price, resolve(options.price));
  if (!options.remote_write.empty() && !exporters::is_http_address(options.remote_write)) {
    return Status(StatusCode::kInvalidArgument, "--remote-write: it is no address of the form http://HOST:PORT/PATH");
  }
  if (!options.ship.empty()) {
    const Status address = parse_ship_address(options.ship, plan);
    if (!address.ok()) return Status(address.code(), "--ship: " + address.message());
  }
  const bool has_sink = !plan.tensorboard.empty() || !plan.prometheus.empty() || !plan.remote_write.empty() ||
                        !plan.otlp.empty() || !plan.cloud.project.empty() || plan.ship.has_value() ||
                        plan.ship_journals.has_value();
  if (!has_sink && plan.control_fd < 0) {
    return Status(StatusCode::kInvalidArgument,
                  "there is nowhere to export to: give --tensorboard DIR, --prometheus HOST:PORT, --remote-write URL, "
                  "--otlp URL, --cloud-monitoring PROJECT or --ship URL");
  }
  return plan;
}

std::vector<std::pair<std::string, std::string>> in_effect(const MonitorOptions& options) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) found.emplace_back(name, value);
  };
  add("interval", options.interval);
  std::string windows;
  for (const std::string& window : words_of(options.windows)) windows += (windows.empty() ? "" : " ") + window;
  add("window", windows);
  add("tensorboard", options.tensorboard);
  add("prometheus", options.prometheus);
  add("remote-write", without_credentials(options.remote_write));
  add("otlp", without_credentials(options.otlp));
  add("ship", options.ship);
  add("cloud-monitoring", options.cloud.project);
  add("cloud-location", options.cloud.location);
  add("cloud-cluster", options.cloud.cluster);
  add("cloud-replica", options.cloud.project.empty() ? "" : options.cloud.replica);
  add("cloud-accelerator", options.cloud.accelerator);
  add("cloud-metric-prefix", options.cloud.metric_prefix);
  add("cloud-write-period", options.cloud.project.empty() ? "" : options.cloud.write_period);
  add("price", options.price.price);
  add("currency", options.price.currency);
  add("linger", options.linger);
  add("flush-timeout", options.flush_timeout);
  add("once", options.once ? "true" : "");
  add("follow", options.follow ? "true" : "");
  add("wait", options.wait ? "true" : "");
  return found;
}

}  // namespace goodput::cli
