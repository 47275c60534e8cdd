// What a Google API says when it refuses.
//
//   const std::optional<ApiError> error = read_api_error(answer);
//   if (error && error->is_transient()) wait(error->retry_delay_ns.value_or(kSecond));
//   if (error && error->reason == "SERVICE_DISABLED") …
//
// Pure but for the clock, where Retry-After is a date. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/http_client.h"
#include "base/status.h"

namespace goodput::gcp {

struct ApiError {
  int http_status = 0;                      ///< 0: there was no answer
  std::string status;                       ///< "RESOURCE_EXHAUSTED"; empty when the answer has none
  std::string message;                      ///< what it says, or why there was no answer: a line for people
  std::string full_message{};               ///< the same for programs that read lists out of it; still bounded
  std::string reason;                       ///< of google.rpc.ErrorInfo: "SERVICE_DISABLED"; empty: none
  std::optional<int64_t> retry_delay_ns{};  ///< of google.rpc.RetryInfo, or of the header Retry-After; an hour at most
  std::string details = "[]";               ///< the array `error.details`, as JSON

  /// Whether the same request may succeed later: no answer, 408, 429, 500, 502, 503, 504.
  [[nodiscard]] bool is_transient() const;
  /// Whether the caller lacks a right, or the API is not enabled: nothing gets better by itself.
  [[nodiscard]] bool is_refusal() const { return http_status == 401 || http_status == 403; }
  /// `doing` begins the message. kUnavailable when transient, kPermissionDenied for a refusal, kNotFound for 404, else
  /// kInvalidArgument.
  [[nodiscard]] Status to_status(std::string_view doing) const;
};

/// Nothing: the answer is a success. Whatever the body is, garbage included.
std::optional<ApiError> read_api_error(const HttpAnswer& answer);

}  // namespace goodput::gcp
