// Ships a job's events to a log of Cloud Logging, as one of a monitor's exporters: what was recorded becomes entries,
// each once.
//
//   ASSIGN_OR_RETURN(auto shipping, ShippingExporter::open({.address = address, .files = &files, .roots = roots,
//                                                           .run = run}));
//   Pipe pipe(std::move(shipping), {});                 // the updates say when to look; the journals say what is new
//
// The journals are its queue: while the log is out of reach nothing else waits. How far it came is kept in the job's
// folder; an event that is sent again after a loss of that is found once (store/cloud_logging/log_writer.h).
// Used by one thread, cancel() by any. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "exporters/exporter.h"
#include "journal/job_log.h"
#include "monitor/sink_memory.h"
#include "store/cloud_logging/log_writer.h"

namespace goodput::monitor {

struct ShippingOptions {
  store::LogAddress address;
  FileSystem* files = nullptr;  ///< outlives the exporter, as does the clock
  std::vector<journal::Root> roots;
  journal::RunName run;
  const Clock* clock = &system_clock();
};

class ShippingExporter final : public exporters::Exporter {
 public:
  /// Asks nobody. Fails where credentials are named that are not there or wrong.
  static Result<std::unique_ptr<ShippingExporter>> open(ShippingOptions options);

  [[nodiscard]] std::string name() const override;
  /// Ships what is new in the journals; `update` only says that it is time to look.
  Status send(const exporters::Update& update) override;
  [[nodiscard]] bool takes_steps() const override { return false; }
  [[nodiscard]] int64_t retry_after_ns() const override { return retry_after_ns_; }
  [[nodiscard]] uint64_t rejected() const override { return refused_; }
  [[nodiscard]] std::string rejection() const override { return refusal_; }
  void cancel() override { is_cancelled_ = true; }

 private:
  explicit ShippingExporter(ShippingOptions options) : options_(std::move(options)) {}

  Status open_log();
  Status ship(std::span<const event::Event> events);
  [[nodiscard]] bool is_worth_shipping(const event::Event& event);

  ShippingOptions options_;
  std::atomic<bool> is_cancelled_ = false;
  std::unique_ptr<store::CloudLogWriter> writer_;
  std::unique_ptr<journal::JobLog> log_;  ///< none: it is to be opened where it was left off
  std::unique_ptr<SinkMemory> memory_;
  std::map<std::string, int64_t> heartbeats_;  ///< when the latest that was chosen was told, by attempt
  std::vector<event::Event> chosen_;
  int64_t retry_after_ns_ = 0;
  uint64_t refused_ = 0;
  std::string refusal_;
};

}  // namespace goodput::monitor
