// A server that answers as Google's token endpoints, metadata server and APIs do, by path; for tests.
//
//   FakeGoogle google;
//   google.on("POST /token", 200, R"({"access_token":"one","expires_in":3600})");
//   … .token_uri = google.url("/token") …
//   EXPECT_EQ(google.count("POST /token"), 1);  google.last_body("POST /token");
//
// What is set for a path is said in turn, the last of it for ever. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/loopback_server.h"

namespace goodput::gcp {

class FakeGoogle {
 public:
  FakeGoogle() : server_([this](int connection) { serve(connection); }) {}

  /// `path` without the query.
  void on(const std::string& path, int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    answers_[path].push_back("HTTP/1.1 " + std::to_string(status) + " As Told\r\n" + extra_header_ +
                             "Connection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  /// On all answers that are set from now on: "Metadata-Flavor: Google\r\n".
  void with_header(const std::string& line) { extra_header_ = line; }

  [[nodiscard]] size_t count(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return requests_[path].size();
  }
  /// Head and body, as they came.
  [[nodiscard]] std::string last(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return requests_[path].empty() ? "" : requests_[path].back();
  }
  [[nodiscard]] std::string last_body(const std::string& path) {
    const std::string text = last(path);
    return text.substr(std::min(text.size(), text.find("\r\n\r\n") + 4));
  }

  [[nodiscard]] std::string url(const std::string& path) const { return server_.url(path); }
  [[nodiscard]] std::string host() const { return server_.host(); }

 private:
  void serve(int connection) {
    const std::string request = read_request(connection);
    const std::string path = request.substr(0, request.find_first_of("? ", request.find('/')));
    std::string answer = "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    {
      const std::lock_guard lock(mutex_);
      requests_[path].push_back(request);
      if (auto& left = answers_[path]; !left.empty()) {
        answer = left.front();
        if (left.size() > 1) left.pop_front();
      }
    }
    say(connection, answer);
  }

  std::string extra_header_;
  std::mutex mutex_;
  std::map<std::string, std::deque<std::string>> answers_;
  std::map<std::string, std::vector<std::string>> requests_;
  LoopbackServer server_;  // last: its thread uses all of the above
};

/// A proxy in this process's environment that nobody answers at, as long as this lives.
class DeadProxy {
 public:
  DeadProxy() {
    for (const char* name : {"no_proxy", "NO_PROXY"}) ::unsetenv(name);
    for (const char* name : kNames) ::setenv(name, "http://127.0.0.1:1", 1);
  }
  ~DeadProxy() {
    for (const char* name : kNames) ::unsetenv(name);
  }
  DeadProxy(const DeadProxy&) = delete;
  DeadProxy& operator=(const DeadProxy&) = delete;

 private:
  static constexpr const char* kNames[] = {"http_proxy", "https_proxy", "all_proxy"};
};

/// Of these variables alone.
inline Environment variables(std::map<std::string, std::string> set) {
  return [set = std::move(set)](const char* name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace goodput::gcp
