// Writes a job's events to a log of Cloud Logging.
//
//   ASSIGN_OR_RETURN(auto writer, CloudLogWriter::open({.address = {"my-project", "goodput_7b"}}, "7b", run_id));
//   WriteOutcome outcome = writer->write(events);
//   if (!outcome.status.ok()) try_again(events.subspan(outcome.done), outcome.retry_after_ns);
//
// To send an event again is harmless: it is stored under the same time and id, and found once. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/event.h"
#include "gcp/cloud_surroundings.h"
#include "gcp/rest.h"
#include "store/cloud_logging/log_address.h"
#include "store/cloud_logging/log_entries.h"

namespace goodput::store {

struct CloudLogOptions {
  LogAddress address;
  Environment environment = system_environment();
  int64_t timeout_ns = 60'000'000'000;              ///< of a request, as Google's own client has it
  const std::atomic<bool>* is_cancelled = nullptr;  ///< ends a request early; outlives what is opened with it
};

struct WriteOutcome {
  size_t done = 0;      ///< so many events, from the first, need no second look: written, or refused for good
  size_t refused = 0;   ///< of these
  std::string refusal;  ///< why the last of them was
  /// kUnavailable: the rest may be written later. Others: it will not until somebody changes something, as a right that
  /// is missing.
  Status status;
  std::optional<int64_t> retry_after_ns{};  ///< what the service asks for
};

class CloudLogWriter {
 public:
  /// Asks nobody; fails where credentials are named that are not there or wrong.
  static Result<std::unique_ptr<CloudLogWriter>> open(const CloudLogOptions& options, const std::string& job,
                                                      const std::string& run_id);

  /// One attempt at each request; the first that fails ends it. kUnavailable too while the machine cannot tell yet
  /// where it is, which is a part of each entry.
  WriteOutcome write(std::span<const event::Event> events);

 private:
  CloudLogWriter(const CloudLogOptions& options, std::string url, std::shared_ptr<gcp::Credentials> credentials,
                 const std::string& job, const std::string& run_id);

  bool send(EntryBatch& batch, WriteOutcome& outcome);
  Result<std::string> opening();

  CloudLogOptions options_;
  std::string url_, job_, run_id_;
  gcp::RestClient client_;
  gcp::CloudSurroundings surroundings_;
  std::string opening_;  // empty: the machine has not told yet where it is
};

}  // namespace goodput::store
