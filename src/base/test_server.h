// A server on this machine for tests of what speaks HTTP: one connection after the other, in a thread of its own.
//
//   Server server([](int connection) { read_request(connection); say(connection, "HTTP/1.1 204 No Content\r\n\r\n");
//   }); client.send({.url = server.url("/v1")});
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace goodput {

/// Gives every connection to `serve` in one thread, until it is destroyed.
class Server {
 public:
  explicit Server(std::function<void(int)> serve)
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
  ~Server() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  [[nodiscard]] std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  std::function<void(int)> serve_;
  int socket_;
  uint16_t port_ = 0;
  std::thread thread_;
};

/// Reads until the head and `body_bytes` more have come.
inline std::string read_request(int connection, size_t body_bytes = 0) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos && text.size() >= end + 4 + body_bytes) return text;
    const ssize_t count = ::read(connection, block.data(), block.size());
    if (count <= 0) return text;
    text.append(block.data(), static_cast<size_t>(count));
  }
}

inline void say(int connection, std::string_view text) {
  (void)::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace goodput
