// Where and how OTLP is sent, as the OTEL_* variables of every OpenTelemetry SDK say it.
//
//   ASSIGN_OR_RETURN(const OtlpSettings settings, otlp_settings("http://collector:4318", system_environment()));
//   if (!settings.is_disabled) … settings.metrics.url     // http://collector:4318/v1/metrics
//
// Understood: OTEL_EXPORTER_OTLP_{ENDPOINT,HEADERS,TIMEOUT,COMPRESSION,PROTOCOL,CERTIFICATE}, each also for one signal
// (OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, …_LOGS_…), OTEL_{METRICS,LOGS}_EXPORTER=none, OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES, OTEL_SDK_DISABLED. An empty variable is one that is not set. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/status.h"

namespace goodput::exporters {

/// Of metrics, or of logs.
struct OtlpSignal {
  std::string url;  ///< empty: it is not sent
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t timeout_ns = 10'000'000'000;
  bool is_gzipped = false;
  bool is_json = false;      ///< protobuf otherwise
  std::string certificates;  ///< a file of those to trust; empty: the system's
};

struct OtlpSettings {
  OtlpSignal metrics, logs;
  std::vector<std::pair<std::string, std::string>> resource;  ///< attributes; service.name is always there
  bool is_disabled = false;
};

/// `url`: the base address, to which /v1/metrics and /v1/logs are appended; or "env", which leaves it to the variables.
/// kInvalidArgument, naming the variable, for what makes no sense; kUnsupported: gRPC is asked for.
Result<OtlpSettings> otlp_settings(std::string_view url, const Environment& environment);

}  // namespace goodput::exporters
