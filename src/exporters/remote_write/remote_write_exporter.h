// A job's figures to whatever takes Prometheus' remote write 1.0: Prometheus itself, Mimir, Thanos, VictoriaMetrics.
//
//   RemoteWriteExporter exporter({.url = "http://prometheus:9090/api/v1/write"}, own_families);
//   exporter.send(update);                // one sample a series, at the report's time
//
// Never older than what was sent before. A series that a report has no more is ended, as by a scrape that misses it.
// What the receiver may take later (5xx, 429, no answer) is kUnavailable, anything else is refused for good. One
// thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/http_sink.h"
#include "exporters/metrics.h"

namespace goodput::exporters {

struct RemoteWriteOptions {
  std::string url;  ///< may hold a user name and password
  std::vector<std::pair<std::string, std::string>> headers{};
  int64_t timeout_ns = 10'000'000'000;
};

class RemoteWriteExporter final : public Exporter {
 public:
  /// `own`: families of the program, asked for at each send; may be empty.
  RemoteWriteExporter(RemoteWriteOptions options, std::function<std::vector<Family>()> own);

  [[nodiscard]] std::string name() const override { return "remote_write " + without_credentials(options_.url); }
  Status send(const Update& update) override;
  [[nodiscard]] bool takes_steps() const override { return false; }
  [[nodiscard]] int64_t retry_after_ns() const override { return sink_.retry_after_ns(); }
  void cancel() override { sink_.cancel(); }

 private:
  RemoteWriteOptions options_;
  std::function<std::vector<Family>()> own_;
  HttpSink sink_;
  std::set<std::string> series_;  ///< that the receiver has, as of the latest sample
  int64_t sent_ns_ = 0;           ///< the time of that
};

}  // namespace goodput::exporters
