// Reads a job's entries from a log of Cloud Logging: all of them, then again and again what is new.
//
//   ASSIGN_OR_RETURN(auto reader, CloudLogReader::open({.address = {"my-project", "goodput_7b"}}, "7b", {}));
//   Status status = reader->poll([&](const LogRecord& record) { payloads.read(record.payload); });
//   save(reader->cursor());
//
// Whoever wrote them: ml-goodput-measurement, Orbax's logger, or this program. Each entry is given once, late ones too,
// in the order of the log within one poll. The service answers 60 questions a minute and project: poll no oftener than
// every ten seconds. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/function_ref.h"
#include "event/event.h"
#include "gcp/rest.h"
#include "store/cloud_logging/log_cursor.h"
#include "store/cloud_logging/log_writer.h"

namespace goodput::store {

struct LogRecord {
  std::string_view payload;  ///< jsonPayload, as JSON on one line
  int64_t timestamp_ns = 0;
  std::string_view insert_id;
  /// Where it stands among entries whose payload does not say so (`sequence`): the same, whenever it is read.
  event::Position position{};
};

struct LogReaderOptions {
  /// How long logs are kept: 30 days unless somebody has changed the bucket.
  int64_t retention_ns = int64_t{30} * 86'400 * 1'000'000'000;
  const Clock* clock = &system_clock();  ///< outlives the reader
  std::string cursor{};                  ///< where another reader was; empty: from the beginning
};

class CloudLogReader {
 public:
  /// Asks nobody. kInvalidArgument: wrong credentials, or a cursor that is none.
  static Result<std::unique_ptr<CloudLogReader>> open(const CloudLogOptions& options, const std::string& job,
                                                      const LogReaderOptions& how);

  /// Gives what is new. After a failure the next poll goes on; kUnavailable: it may succeed then.
  Status poll(FunctionRef<void(const LogRecord&)> give);

  [[nodiscard]] std::string cursor() const { return cursor_.text(); }
  /// How long the service wants to be left alone after the last failure.
  [[nodiscard]] std::optional<int64_t> retry_after_ns() const { return retry_after_ns_; }
  /// The oldest entry lies within a day of where the log's memory ends, and starts no job: what came before is gone.
  [[nodiscard]] bool may_be_cut_off() const { return may_be_cut_off_; }

 private:
  CloudLogReader(const CloudLogOptions& options, std::string url, std::shared_ptr<gcp::Credentials> credentials,
                 const std::string& job, const LogReaderOptions& how, LogCursor cursor);

  Status give_page(std::string_view body, FunctionRef<void(const LogRecord&)> give, std::string& next_page);

  CloudLogOptions options_;
  std::string url_, job_;
  LogReaderOptions how_;
  gcp::RestClient client_;
  LogCursor cursor_;
  std::optional<int64_t> retry_after_ns_;
  int64_t oldest_kept_ns_ = 0;  // where the log's memory ends
  bool may_be_cut_off_ = false;
};

}  // namespace goodput::store
