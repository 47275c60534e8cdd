// SPDX-License-Identifier: Apache-2.0
#include "monitor/shipping_exporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/patience.h"

namespace goodput::monitor {
namespace {

// The service counts entries, and a live job has a sign of life every second.
constexpr int64_t kHeartbeatNs = 30'000'000'000;
// A first look may have millions of events: one refusal among its requests is no reason to begin again.
constexpr int kAttempts = 5;
constexpr int64_t kFirstPauseNs = 1'000'000'000;
constexpr int64_t kLongestPauseNs = 60'000'000'000;

}  // namespace

Result<std::unique_ptr<ShippingExporter>> ShippingExporter::open(ShippingOptions options) {
  std::unique_ptr<ShippingExporter> made(new ShippingExporter(std::move(options)));
  store::CloudLogOptions how{.address = made->options_.address};
  how.is_cancelled = &made->is_cancelled_;
  ASSIGN_OR_RETURN(made->writer_, store::CloudLogWriter::open(how, made->options_.run.job, made->options_.run.run_id));
  return made;
}

std::string ShippingExporter::name() const {
  return fmt::format("{}{}/{}", store::kCloudLoggingScheme, options_.address.project, options_.address.log);
}

Status ShippingExporter::open_log() {
  if (log_ != nullptr) return {};
  const auto fresh = [&] {
    return journal::JobLog::open(*options_.files, options_.roots, options_.run.job, options_.run.run_id,
                                 *options_.clock);
  };
  ASSIGN_OR_RETURN(auto log, fresh());
  if (memory_ == nullptr) memory_ = SinkMemory::open(*log, name());
  const std::string cursor = memory_ == nullptr ? "" : memory_->recall();
  if (!cursor.empty() && !log->resume(std::as_bytes(std::span(cursor))).ok()) {
    // A cursor that was refused may have been taken in part.
    ASSIGN_OR_RETURN(log, fresh());
  }
  log_ = std::move(log);
  return {};
}

Status ShippingExporter::send(const exporters::Update&) {
  retry_after_ns_ = 0;
  RETURN_IF_ERROR(open_log());
  Status shipped;
  size_t seen = 0;
  Status status = log_->poll([&](std::span<const event::Event> events) {
    seen += events.size();
    if (shipped.ok()) shipped = ship(events);
    return shipped.ok();
  });
  if (!shipped.ok()) status = shipped;
  if (!status.ok()) {
    // The next look begins where this one did, with what it chose and could not send.
    log_.reset();
    heartbeats_.clear();
    return status;
  }
  if (seen == 0 || memory_ == nullptr) return {};
  const std::vector<std::byte> cursor = log_->cursor();
  (void)memory_->keep({reinterpret_cast<const char*>(cursor.data()), cursor.size()});
  return {};
}

bool ShippingExporter::is_worth_shipping(const event::Event& event) {
  if (event.kind != event::Kind::kHeartbeat) return true;
  if (event.process_index() != 0) return false;
  const std::string attempt(event.origin == nullptr ? std::string_view() : event.origin->attempt_id);
  const auto [latest, is_first] = heartbeats_.try_emplace(attempt, event.time_ns);
  if (!is_first && event.time_ns - latest->second < kHeartbeatNs) return false;
  latest->second = event.time_ns;
  return true;
}

Status ShippingExporter::ship(std::span<const event::Event> events) {
  chosen_.clear();
  std::copy_if(events.begin(), events.end(), std::back_inserter(chosen_),
               [&](const event::Event& event) { return is_worth_shipping(event); });
  std::span<const event::Event> left = chosen_;
  int64_t pause_ns = kFirstPauseNs;
  for (int attempt = 0; !left.empty();) {
    const store::WriteOutcome outcome = writer_->write(left);
    left = left.subspan(outcome.done);
    refused_ += outcome.refused;
    if (outcome.refused > 0) refusal_ = outcome.refusal;
    if (outcome.done > 0) attempt = 0;
    if (outcome.status.ok()) continue;
    retry_after_ns_ = outcome.retry_after_ns.value_or(0);
    const bool goes_on = outcome.status.code() == StatusCode::kUnavailable && ++attempt < kAttempts &&
                         wait(std::min(std::max(pause_ns, retry_after_ns_), kLongestPauseNs), &is_cancelled_);
    // Whatever it was, the journals have the events, and somebody may put it right.
    if (!goes_on) return {StatusCode::kUnavailable, outcome.status.message()};
    pause_ns *= 2;
  }
  return {};
}

}  // namespace goodput::monitor
