// OTLP's messages as its JSON has them: names in lowerCamelCase, enumerations as numbers, 64-bit integers as text.
//
//   request.body = otlp_json(message);
//   if (read_otlp_json(answer, response)) count(response.partial_success().rejected());
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace goodput::otlp {
class LogsRequest;
class MetricsRequest;
class Response;
}  // namespace goodput::otlp

namespace goodput::exporters {

std::string otlp_json(const otlp::MetricsRequest& request);
std::string otlp_json(const otlp::LogsRequest& request);

/// What a receiver answers. Keys that are not known are ignored; false: it is no JSON object.
bool read_otlp_json(std::string_view text, otlp::Response& response);

}  // namespace goodput::exporters
