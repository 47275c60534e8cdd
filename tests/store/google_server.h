// The server that stands for Google (tests/google), as a process of its own; for tests.
//
//   GoogleServer google;
//   google.control("POST", "faults", R"({"path":"entries:write","kind":"status","status":429,"times":2})");
//   CloudLogWriter::open({.address = {"p", "log"}, .environment = google.environment()}, "job", "");
//   EXPECT_EQ(google.state("entries").size(), 3);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/http_client.h"

namespace goodput::store {

class GoogleServer {
 public:
  GoogleServer() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execlp("python3", "python3", "-m", "tests.google", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) url_ += c;
    ::close(ends[0]);
    EXPECT_FALSE(url_.empty()) << "python3 -m tests.google did not start";
    control("POST", "set", R"({"tokens.allows_anonymous": true})");
  }
  ~GoogleServer() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  GoogleServer(const GoogleServer&) = delete;
  GoogleServer& operator=(const GoogleServer&) = delete;

  /// What a control answers (tests/google/control.py).
  std::string control(const std::string& method, const std::string& what, const std::string& body = "") {
    HttpClient client({.timeout_ns = 10'000'000'000, .uses_proxy = false});
    const HttpAnswer answer = client.send({.method = method, .url = url_ + "/control/" + what, .body = body});
    EXPECT_TRUE(answer.ok()) << what << ": " << answer.status << ' ' << answer.failure;
    return answer.body;
  }
  /// Leads there, off Google Cloud and without credentials.
  [[nodiscard]] Environment environment() const {
    return [url = url_](const char* name) -> std::optional<std::string> {
      const std::map<std::string, std::string> set = {
          {"GOODPUT_LOGGING_ENDPOINT", url}, {"NO_GCE_CHECK", "true"}, {"HOME", "/nonexistent"}};
      const auto found = set.find(name);
      return found == set.end() ? std::nullopt : std::optional(found->second);
    };
  }

 private:
  pid_t child_ = -1;
  std::string url_;
};

}  // namespace goodput::store
