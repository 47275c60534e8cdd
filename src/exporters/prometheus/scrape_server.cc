// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus/scrape_server.h"

#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace goodput::exporters {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr int kMostClients = 64;
constexpr auto kPatience = std::chrono::seconds(10);
constexpr size_t kMostRequestBytes = 16 * 1024;

struct Address {
  std::string host;
  uint16_t port = 0;
};

Result<Address> parse_address(std::string_view text) {
  const auto no_address = [&] {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("listening on \"{}\": an address is HOST:PORT, [IPv6]:PORT or PORT", text));
  };
  const size_t colon = text.rfind(':');
  std::string_view host = colon == std::string_view::npos ? std::string_view() : text.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Address address{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return no_address();
  if (host == "localhost") address.host = "127.0.0.1";
  if (host.empty()) address.host = "0.0.0.0";
  return address;
}

}  // namespace

class ScrapeServer::Server {
 public:
  Server(std::string address, std::function<std::string(Exposition)> own)
      : address_(std::move(address)), own_(std::move(own)), acceptor_(context_) {}

  Status open(const Address& address) {
    boost::system::error_code failed;
    const auto ip = asio::ip::make_address(address.host, failed);
    if (failed) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("listening on {}: the host is to be an IP address of this machine", address_));
    }
    const tcp::endpoint endpoint(ip, address.port);
    acceptor_.open(endpoint.protocol(), failed);
    if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor_.bind(endpoint, failed);
    if (!failed) acceptor_.listen(kMostClients, failed);
    if (failed) {
      return Status(StatusCode::kUnavailable, fmt::format("listening on {}: {}", address_, failed.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    asio::co_spawn(context_, accept(), asio::detached);
    thread_ = std::thread([this] { context_.run(); });
    return {};
  }

  ~Server() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  void set(const report::Report& report) {
    const std::lock_guard lock(mutex_);
    report_ = report;
    has_report_ = true;
  }

  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  using Request = http::request<http::empty_body>;
  using Response = http::response<http::string_body>;

  asio::awaitable<void> accept() {
    for (;;) {
      boost::system::error_code failed;
      tcp::socket socket(context_);
      co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
      if (failed) {  // out of descriptors, perhaps: later there may be some
        asio::steady_timer pause(context_, std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
        continue;
      }
      if (clients_ >= kMostClients) continue;  // closes it
      ++clients_;
      asio::co_spawn(context_, serve(beast::tcp_stream(std::move(socket))),
                     [this](const std::exception_ptr&) { --clients_; });
    }
  }

  asio::awaitable<void> serve(beast::tcp_stream stream) {
    beast::flat_buffer buffer;
    boost::system::error_code failed;
    for (bool keep = true; keep && !failed;) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(kMostRequestBytes);
      parser.body_limit(0);
      stream.expires_after(kPatience);
      co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, failed));
      if (failed) break;
      Response response = answer(parser.get());
      keep = response.keep_alive();
      stream.expires_after(kPatience);
      co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, failed));
    }
    stream.socket().shutdown(tcp::socket::shutdown_send, failed);
  }

  Response answer(const Request& request) {
    Response response{http::status::ok, request.version()};
    response.keep_alive(request.keep_alive());
    response.set(http::field::server, "goodput");
    const std::string_view target(request.target().data(), request.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      response.result(http::status::method_not_allowed);
      response.set(http::field::allow, "GET, HEAD");
    } else if (path == "/metrics") {
      const auto accept = request[http::field::accept];
      const Exposition form = exposition_for({accept.data(), accept.size()});
      const std::string_view type = content_type(form);
      response.set(http::field::content_type, {type.data(), type.size()});
      response.body() = metrics(form);
    } else if (path == "/") {
      response.set(http::field::content_type, "text/plain; charset=utf-8");
      response.body() = "goodput: /metrics\n";
    } else {
      response.result(http::status::not_found);
    }
    response.prepare_payload();
    if (request.method() == http::verb::head) response.body().clear();
    return response;
  }

  std::string metrics(Exposition form) {
    std::string own = own_ ? own_(form) : std::string();
    const std::lock_guard lock(mutex_);
    return expose({&report_, has_report_ ? size_t{1} : size_t{0}}, form, own);
  }

  std::string address_;
  std::function<std::string(Exposition)> own_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  std::thread thread_;
  int clients_ = 0;
  uint16_t port_ = 0;
  std::mutex mutex_;
  report::Report report_;
  bool has_report_ = false;
};

Result<std::unique_ptr<ScrapeServer>> ScrapeServer::listen(std::string_view address,
                                                           std::function<std::string(Exposition)> own) {
  ASSIGN_OR_RETURN(const Address parsed, parse_address(address));
  auto server = std::make_unique<Server>(std::string(address), std::move(own));
  RETURN_IF_ERROR(server->open(parsed));
  return std::unique_ptr<ScrapeServer>(new ScrapeServer(std::move(server)));
}

ScrapeServer::ScrapeServer(std::unique_ptr<Server> server) : server_(std::move(server)) {}
ScrapeServer::~ScrapeServer() = default;

std::string ScrapeServer::name() const { return "prometheus " + server_->address(); }
uint16_t ScrapeServer::port() const { return server_->port(); }

Status ScrapeServer::send(const Update& update) {
  server_->set(update.report);
  return {};
}

}  // namespace goodput::exporters
