// Where an exporter posts to over HTTP: one request at a time, judged once for all protocols.
//
//   HttpSink sink({.timeout_ns = 10 * kSecond}, "sending metrics");
//   Result<std::string> answer = sink.post({.method = "POST", .url = url, .body = body}, is_passing);
//   if (answer.status().code() == StatusCode::kUnavailable) retry_after(sink.retry_after_ns());
//
// One thread, but cancel(), which any may call. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http_client.h"
#include "base/status.h"

namespace goodput::exporters {

struct HttpSinkOptions {
  int64_t timeout_ns = 10'000'000'000;
  std::string certificates{};  ///< a file of those to trust; empty: the system's
};

class HttpSink {
 public:
  /// `doing` begins messages: "sending metrics".
  HttpSink(const HttpSinkOptions& options, std::string doing);

  /// The body of a 2xx answer. kUnavailable, worth a retry: there was no whole answer, or `is_passing` says so of its
  /// status. kInvalidArgument: any other answer, with the beginning of what it said.
  Result<std::string> post(const HttpRequest& request, bool (*is_passing)(int status));
  /// What the latest answer asked for.
  [[nodiscard]] int64_t retry_after_ns() const { return retry_after_ns_; }
  /// Ends a post() that is under way within a second, and lets later ones fail.
  void cancel() { is_cancelled_ = true; }

 private:
  std::atomic<bool> is_cancelled_ = false;
  HttpClient client_;
  std::string doing_;
  int64_t retry_after_ns_ = 0;
};

/// Of what a sink says, in a message.
constexpr size_t kMostExcerptBytes = 200;

/// Whether it is of the form http://HOST… or https://HOST….
bool is_http_address(std::string_view url);

/// "k1=v1,k2=v2" with percent-encoded values, as the OTEL_* variables have it. kInvalidArgument: it is no such list.
Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text);

}  // namespace goodput::exporters
