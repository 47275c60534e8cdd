// SPDX-License-Identifier: Apache-2.0
#include "gcp/rest.h"

#include "base/web_text.h"

namespace goodput::gcp {
namespace {

RestAnswer without_token(const Status& status) {
  ApiError error;
  error.message = status.message();
  if (status.code() != StatusCode::kUnavailable) {
    error.http_status = 401;
    error.status = "UNAUTHENTICATED";
  }
  return {.error = std::move(error)};
}

RestAnswer finished(HttpAnswer answer) {
  RestAnswer out{.error = read_api_error(answer)};
  if (!out.error.has_value()) out.body = std::move(answer.body);
  out.http = std::move(answer);
  return out;
}

}  // namespace

RestClient::RestClient(std::shared_ptr<Credentials> credentials, const RestOptions& options)
    : credentials_(std::move(credentials)),
      client_({.timeout_ns = options.timeout_ns, .is_cancelled = options.is_cancelled}) {}

HttpAnswer RestClient::send_once(const RestRequest& request, const std::string& token) {
  HttpRequest http{.method = request.method, .url = request.url, .headers = request.headers, .body = request.body};
  if (!request.body.empty()) http.headers.emplace_back("Content-Type", request.content_type);
  if (!token.empty()) http.headers.emplace_back("Authorization", "Bearer " + token);
  if (!credentials_->quota_project().empty()) {
    http.headers.emplace_back("x-goog-user-project", credentials_->quota_project());
  }
  return client_.send(http);
}

RestAnswer RestClient::send(const RestRequest& request) {
  if (!credentials_->is_anonymous() && is_overheard(request.url)) {
    return without_token({StatusCode::kInvalidArgument, "the address is not https, and a token would be overheard"});
  }
  constexpr int kUnauthorized = 401;
  for (bool is_last = credentials_->is_anonymous();; is_last = true) {
    const Result<std::string> token = credentials_->token();
    if (!token.ok()) return without_token(token.status());
    HttpAnswer answer = send_once(request, *token);
    if (is_last || answer.status != kUnauthorized) return finished(std::move(answer));
    credentials_->refuse(*token);
  }
}

}  // namespace goodput::gcp
