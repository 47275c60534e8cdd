// A server on this machine that does to each connection what a test wants.
//
//   LoopbackServer server([](int connection) {
//     const std::string request = read_request(connection);
//     say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
//   });
//   HttpClient({}).send({.url = server.url("/path")});
//
// For tests. One connection at a time, in a thread of the server's. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace goodput {

/// Gives every connection to `serve`, until it is destroyed.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::function<void(int)> serve)
      : serve_(std::move(serve)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      while (true) {
        const int connection = ::accept(socket_, nullptr, nullptr);
        if (connection < 0) return;
        serve_(connection);
        ::close(connection);
      }
    });
  }
  ~LoopbackServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string url(const std::string& path = "/") const { return "http://" + host() + path; }

 private:
  std::function<void(int)> serve_;
  int socket_;
  uint16_t port_ = 0;
  std::thread thread_;
};

/// Reads a request: its head, and as much body as the head tells.
inline std::string read_request(int connection) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos) {
      constexpr std::string_view kLength = "Content-Length: ";
      const size_t length = text.find(kLength);
      const size_t body = length < end ? std::strtoul(text.c_str() + length + kLength.size(), nullptr, 10) : 0;
      if (text.size() >= end + 4 + body) return text;
    }
    const ssize_t count = ::read(connection, block.data(), block.size());
    if (count <= 0) return text;
    text.append(block.data(), static_cast<size_t>(count));
  }
}

inline void say(int connection, std::string_view text) {
  (void)::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace goodput
