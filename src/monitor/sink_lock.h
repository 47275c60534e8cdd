// One monitor for each sink of a job: two that send the same series would count everything twice.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<File> lock, lock_sink(job.log(), "remote-write http://…", owner));
//
// A sink that is a folder or a port guards itself. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"
#include "journal/job_log.h"

namespace goodput::monitor {

/// `sink` may hold an address with credentials, which no message shows. Held until it is destroyed, or this process
/// ends. kAlreadyExists, naming the owner: another process has it. Null where nothing can be kept in the job's folder:
/// nobody else can hold it there either.
Result<std::unique_ptr<File>> lock_sink(journal::JobLog& log, std::string_view sink, std::string_view owner);

/// The locks of an exporter that learns only while it sends what it is that nobody else may send.
///
///   auto locks = SinkLocks::open(job.log(), owner);                 // on the log's thread
///   Status status = locks->take("the series of …");                 // on the exporter's: each once
class SinkLocks {
 public:
  static std::shared_ptr<SinkLocks> open(journal::JobLog& log, std::string owner);

  /// As lock_sink; held as long as this lives. One thread.
  Status take(const std::string& sink);

 private:
  SinkLocks(std::unique_ptr<Directory> folder, std::string owner)
      : folder_(std::move(folder)), owner_(std::move(owner)) {}

  std::unique_ptr<Directory> folder_;  ///< null: nothing can be kept
  std::string owner_;
  std::map<std::string, std::unique_ptr<File>> held_;
};

}  // namespace goodput::monitor
