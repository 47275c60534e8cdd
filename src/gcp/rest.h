// A request to a Google API, in somebody's name.
//
//   RestClient client(credentials, {});
//   RestAnswer answer = client.send({.url = "https://logging.googleapis.com/v2/entries:write", .body = entries_json});
//   if (answer.error) return answer.error->to_status("writing log entries");
//   read(answer.body);
//
// One attempt, but that a token which the server refuses (401) is replaced once: when to try again is the caller's to
// know. A token never leaves over plain HTTP for another machine. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/http_client.h"
#include "gcp/api_error.h"
#include "gcp/credentials.h"
#include "gcp/routed_http_client.h"

namespace goodput::gcp {

struct RestRequest {
  std::string method = "POST";
  std::string url;
  std::string body{};
  std::string content_type = "application/json";               ///< of a body that is not empty
  std::vector<std::pair<std::string, std::string>> headers{};  ///< beside those of the type and the credentials
};

struct RestAnswer {
  std::optional<ApiError> error{};  ///< empty: it succeeded
  std::string body{};               ///< of a success
  HttpAnswer http{};                ///< the rest of it: status, headers
};

struct RestOptions {
  int64_t timeout_ns = 30'000'000'000;
  const std::atomic<bool>* is_cancelled = nullptr;  ///< ends a request early; outlives the client
};

class RestClient {
 public:
  RestClient(std::shared_ptr<Credentials> credentials, const RestOptions& options);

  /// That no token could be had is an error too: 401, "UNAUTHENTICATED"; or no answer, where it may be had later.
  RestAnswer send(const RestRequest& request);

  [[nodiscard]] Credentials& credentials() { return *credentials_; }

 private:
  HttpAnswer send_once(const RestRequest& request, const std::string& token);

  std::shared_ptr<Credentials> credentials_;
  RoutedHttpClient client_;
};

}  // namespace goodput::gcp
