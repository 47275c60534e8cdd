// One HTTP request and its answer.
//
//   HttpClient client({.timeout_ns = 10 * kSecond});
//   HttpAnswer answer = client.send({.method = "POST", .url = url, .headers = {{"Content-Type", kJson}}, .body =
//   body}); if (!answer.failure.empty()) retry("sending to " + url + ": " + answer.failure); if (answer.status == 429)
//   wait(answer.header("retry-after"));
//
// HTTP and HTTPS, connections kept open between requests, proxies as the usual environment variables say. A request
// ends within its timeout, whatever the other side does, and an answer is cut off at a limit. Use one client per
// thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goodput {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};

struct HttpAnswer {
  int status = 0;       ///< 0 when there was none
  std::string failure;  ///< why there was no whole answer, in words; empty when there was one
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;

  [[nodiscard]] bool ok() const { return failure.empty() && status >= 200 && status < 300; }
  /// The last of that name (lower case); empty when there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct HttpClientOptions {
  int64_t timeout_ns = 10'000'000'000;         ///< for a whole request
  int64_t connect_timeout_ns = 5'000'000'000;  ///< of that, to connect
  size_t max_answer_bytes = 64 << 20;          ///< a longer answer is a failure
  std::string certificates{};                  ///< a file of those to trust; empty: the system's
  bool uses_proxy = true;  ///< not for addresses of this machine and its network, as metadata servers
  const std::atomic<bool>* is_cancelled = nullptr;  ///< ends a request early once it is true; outlives the client
};

class HttpClient {
 public:
  explicit HttpClient(const HttpClientOptions& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Never throws; redirects are answers, not followed.
  HttpAnswer send(const HttpRequest& request);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
  HttpClientOptions options_;
};

/// Whether the same request may succeed later: no answer, 408, 429, 500, 502, 503, 504.
[[nodiscard]] bool is_worth_a_retry(const HttpAnswer& answer);

/// What its Retry-After asks for, in seconds or as a date; 0: nothing, or a date that has passed.
[[nodiscard]] int64_t retry_after_ns(const HttpAnswer& answer, int64_t wall_now_ns);

/// The address (or what ends in one) as messages may show it: user name and password are left out, and what is asked
/// of it, which may hold a token, is an ellipsis.
[[nodiscard]] std::string without_credentials(std::string_view url);

}  // namespace goodput
