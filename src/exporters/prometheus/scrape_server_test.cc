// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus/scrape_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace goodput::exporters {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// A connection to this machine, and what is said over it.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The whole answer; the connection is closed by it.
  std::string ask(const std::string& request) {
    (void)!::send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    std::array<char, 4096> piece;
    for (ssize_t got = 0; (got = ::recv(socket_, piece.data(), piece.size(), 0)) > 0;) {
      answer.append(piece.data(), static_cast<size_t>(got));
    }
    return answer;
  }

 private:
  int socket_;
};

class Scrape : public testing::Test {
 protected:
  Scrape() {
    auto server = ScrapeServer::listen("127.0.0.1:0", [](Exposition form) {
      const Family sent{.name = "exporter_sent",
                        .otlp_name = "exporter.sent",
                        .unit = "{update}",
                        .help = "Updates that were sent.",
                        .samples = {{.labels = {{"exporter", "prometheus"}}, .value = 3}},
                        .is_counter = true};
      return expose_families({&sent, 1}, form);
    });
    server_ = std::move(server).value();
  }
  std::string get(const std::string& path, const std::string& headers = "") const {
    return Client(server_->port())
        .ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n");
  }

  std::unique_ptr<ScrapeServer> server_;
};

TEST_F(Scrape, AnswersTheLatestUpdateInTheFormAskedFor) {
  Update update;
  update.report.job = "7b";
  update.report.goodput_percent = 50;
  ASSERT_TRUE(server_->send(update).ok());
  update.report.goodput_percent = 87.5;
  ASSERT_TRUE(server_->send(update).ok());
  const std::string text = get("/metrics");
  EXPECT_THAT(text, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(text, HasSubstr("\ngoodput_ratio{job_name=\"7b\"} 0.875\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE exporter_sent_total counter\nexporter_sent_total{exporter=\"prometheus\"} 3\n"));
  const std::string open_metrics = get("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
  EXPECT_THAT(open_metrics, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  EXPECT_THAT(open_metrics, HasSubstr("# TYPE exporter_sent counter\nexporter_sent_total{"));
  EXPECT_THAT(open_metrics, EndsWith("\n# EOF\n"));
}

TEST_F(Scrape, BeforeTheFirstUpdateThereAreOnlyItsOwnCounters) {
  EXPECT_THAT(get("/metrics"), EndsWith("\r\n\r\n# HELP exporter_sent_total Updates that were sent.\n"
                                        "# TYPE exporter_sent_total counter\n"
                                        "exporter_sent_total{exporter=\"prometheus\"} 3\n"));
}

TEST_F(Scrape, WhatIsNoScrapeIsAnsweredAndTheNextOneWorks) {
  EXPECT_THAT(get("/etc/passwd"), HasSubstr("404 Not Found"));
  EXPECT_THAT(Client(server_->port()).ask("POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("405 Method Not Allowed"));
  (void)Client(server_->port()).ask("\x16\x03\x01 this is no HTTP\r\n\r\n");
  (void)Client(server_->port()).ask("GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(get("/"), HasSubstr("200 OK"));
}

TEST_F(Scrape, AClientThatSaysNothingDelaysNobody) {
  const Client silent(server_->port());
  EXPECT_THAT(get("/metrics"), HasSubstr("200 OK"));
}

TEST(ScrapeServer, AddressesAreCheckedAndTold) {
  EXPECT_EQ(ScrapeServer::listen("nonsense", nullptr).status().message(),
            "listening on \"nonsense\": an address is HOST:PORT, [IPv6]:PORT or PORT");
  EXPECT_EQ(ScrapeServer::listen("host:99999", nullptr).status().code(), StatusCode::kInvalidArgument);
  const auto first = ScrapeServer::listen("127.0.0.1:0", nullptr);
  ASSERT_TRUE(first.ok());
  const std::string taken = "127.0.0.1:" + std::to_string((*first)->port());
  EXPECT_EQ(ScrapeServer::listen(taken, nullptr).status().message(),
            "listening on " + taken + ": Address already in use");
}

}  // namespace
}  // namespace goodput::exporters
