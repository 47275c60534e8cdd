// SPDX-License-Identifier: Apache-2.0
#include "gcp/api_error.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/excerpt.h"
#include "base/foreign_json.h"

namespace goodput::gcp {
namespace {

using Json = nlohmann::json;

/// Of a line for people; Google's sentences about a right or a quota have a few hundred.
constexpr size_t kMostMessageBytes = 1'000;
/// For programs: that of a call with 200 time series names each, with a cause of its own.
constexpr size_t kMostFullMessageBytes = 65'536;
/// Who asks to be left alone for longer is asked again after an hour.
constexpr int64_t kMostDelayNs = 3'600'000'000'000;
constexpr int64_t kMostReadDelayNs = int64_t{1'000'000'000} * 1'000'000'000;

/// Nothing: it is no number of seconds above 0.
std::optional<int64_t> read_delay(std::string_view seconds) {
  const std::optional<Decimal> number = parse_plain_number(seconds);
  const std::optional<int64_t> asked_ns = number ? to_nanoseconds(*number, kMostReadDelayNs) : std::nullopt;
  return asked_ns.value_or(0) > 0 ? std::optional(std::min(*asked_ns, kMostDelayNs)) : std::nullopt;
}

void read_details(const Json& details, ApiError& error) {
  if (!details.is_array()) return;
  for (const Json& detail : details) {
    const std::string type = text_of(detail, "@type");
    if (type.ends_with("google.rpc.ErrorInfo")) error.reason = text_of(detail, "reason");
    if (!type.ends_with("google.rpc.RetryInfo")) continue;
    std::string delay = text_of(detail, "retryDelay");
    if (delay.ends_with('s')) delay.pop_back();
    if (const auto asked_ns = read_delay(delay); asked_ns.has_value()) error.retry_delay_ns = asked_ns;
  }
  error.details = details.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

bool ApiError::is_transient() const {
  return is_worth_a_retry(
      {.status = http_status, .failure = http_status == 0 ? message : "", .headers = {}, .body = {}});
}

Status ApiError::to_status(std::string_view doing) const {
  const StatusCode code = is_transient()       ? StatusCode::kUnavailable
                          : is_refusal()       ? StatusCode::kPermissionDenied
                          : http_status == 404 ? StatusCode::kNotFound
                                               : StatusCode::kInvalidArgument;
  std::string text(doing);
  text += ": ";
  if (!status.empty()) {
    text += status + ": ";
  } else if (http_status != 0) {
    text += "HTTP " + std::to_string(http_status) + ": ";
  }
  return {code, text + message};
}

std::optional<ApiError> read_api_error(const HttpAnswer& answer) {
  if (answer.ok()) return std::nullopt;
  ApiError error;
  // An answer that broke off says nothing, whatever status it began with.
  if (!answer.failure.empty()) {
    error.message = answer.failure;
    return error;
  }
  error.http_status = answer.status;
  if (const int64_t asked_ns = retry_after_ns(answer, wall_time_ns()); asked_ns > 0) {
    error.retry_delay_ns = std::min(asked_ns, kMostDelayNs);
  }
  const Json body = parse_foreign_json<Json>(answer.body);
  if (body.is_object() && body.contains("error") && body["error"].is_object()) {
    const Json& said = body["error"];
    error.status = text_of(said, "status");
    error.full_message = text_of(said, "message").substr(0, kMostFullMessageBytes);
    error.message = excerpt(error.full_message, kMostMessageBytes);
    if (said.contains("details")) read_details(said["details"], error);
  }
  if (error.message.empty()) error.message = "the answer gives no reason";
  return error;
}

}  // namespace goodput::gcp
