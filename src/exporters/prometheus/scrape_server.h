// `/metrics` over HTTP, for Prometheus to scrape.
//
//   ASSIGN_OR_RETURN(auto server, ScrapeServer::listen("0.0.0.0:9464", own_counters));
//   server->send(update);                        // what the next scrape gets
//
// Answers from memory, in a thread of its own, to at most 64 clients at a time, each within 10 s. A Pipe's exporter
// like any other; send() never fails. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "exporters/exporter.h"
#include "exporters/prometheus/exposition.h"

namespace goodput::exporters {

class ScrapeServer final : public Exporter {
 public:
  /// `address`: HOST:PORT, [IPv6]:PORT, :PORT or PORT (every interface); port 0 takes any. `own` is asked for more
  /// families at each scrape, in the server's thread. kInvalidArgument: no address; kUnavailable: it cannot be had.
  static Result<std::unique_ptr<ScrapeServer>> listen(std::string_view address,
                                                      std::function<std::string(Exposition)> own);
  ~ScrapeServer() override;

  [[nodiscard]] std::string name() const override;
  Status send(const Update& update) override;
  [[nodiscard]] bool takes_steps() const override { return false; }
  [[nodiscard]] uint16_t port() const;

 private:
  class Server;
  explicit ScrapeServer(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace goodput::exporters
