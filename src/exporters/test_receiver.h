// What a receiver of HTTP got, for tests of exporters, and what it is to answer.
//
//   Receiver receiver;
//   receiver.answers = {"503 Busy", "200 OK"};        // then 200 OK for ever
//   exporter.send(update);
//   receiver.requests()[0].body
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/loopback_server.h"

namespace goodput::exporters {

struct ReceivedRequest {
  std::string path;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

class Receiver {
 public:
  /// The status line of each answer to come, and what follows it: headers, or a body after an empty line.
  struct Answer {
    std::string status = "200 OK";
    std::string headers{};
    std::string body{};
  };
  std::deque<Answer> answers;

  [[nodiscard]] std::string url(const std::string& path = "") const { return server_.url(path); }
  std::vector<ReceivedRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static ReceivedRequest parse(const std::string& text) {
    ReceivedRequest out;
    out.path = text.substr(text.find(' ') + 1, text.find(' ', text.find(' ') + 1) - text.find(' ') - 1);
    const size_t end = text.find("\r\n\r\n");
    for (size_t at = text.find("\r\n") + 2; at < end;) {
      const size_t line_end = text.find("\r\n", at);
      const size_t colon = text.find(": ", at);
      std::string name = text.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      out.headers[name] = text.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    return out;
  }

  void serve(int connection) {
    const std::string text = read_request(connection);
    ReceivedRequest request = parse(text);
    request.body = text.substr(text.find("\r\n\r\n") + 4);
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    Answer answer;
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    say(connection, "HTTP/1.1 " + answer.status + "\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(answer.body.size()) + "\r\n" + answer.headers + "\r\n" + answer.body);
  }

  std::mutex mutex_;
  std::vector<ReceivedRequest> requests_;
  LoopbackServer server_{[this](int connection) { serve(connection); }};
};

}  // namespace goodput::exporters
