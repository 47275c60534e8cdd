// What an exporter keeps for the next time that it starts, in a file of the job's folder, and the lock by which each
// sink has one monitor.
//
//   ASSIGN_OR_RETURN(auto memory, SinkMemory::open(job->log(), "otlp http://collector:4318", "goodput monitor 7b"));
//   if (memory != nullptr) exporter.use({.recall = [&] { return memory->recall(); }, …});
//
// Where the folder is not ours nothing is kept. Closed by its destructor. One thread at a time, another than the log's
// if need be. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "journal/job_log.h"

namespace goodput::monitor {

class SinkMemory {
 public:
  /// Of a sink, by its name. Null: the job's folder takes nothing. kAlreadyExists: another process exports to that sink
  /// already; the message says which. `owner` is what others are told of this one.
  static Result<std::unique_ptr<SinkMemory>> open(journal::JobLog& log, std::string_view sink, std::string_view owner);

  /// Empty when there is nothing, or what there is is damaged.
  [[nodiscard]] std::string recall() const;
  /// Replaces the file at once as a whole.
  Status keep(std::string_view bytes);

 private:
  SinkMemory(std::unique_ptr<Directory> folder, std::unique_ptr<File> lock, std::string file)
      : folder_(std::move(folder)), lock_(std::move(lock)), file_(std::move(file)) {}

  std::unique_ptr<Directory> folder_;
  std::unique_ptr<File> lock_;
  std::string file_;
};

}  // namespace goodput::monitor
