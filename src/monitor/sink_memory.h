// What an exporter keeps for the next time that it starts, in a file of the job's folder.
//
//   const std::unique_ptr<SinkMemory> memory = SinkMemory::open(job->log(), "otlp http://collector:4318");
//   if (memory != nullptr) (void)memory->keep(memory->recall() + "more");
//
// Hold the sink's lock (monitor/sink_lock.h) meanwhile. One thread at a time, another than the log's if need be.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "journal/job_log.h"

namespace goodput::monitor {

class SinkMemory {
 public:
  /// Of a sink, by its name. Null: nothing can be kept in the job's folder.
  static std::unique_ptr<SinkMemory> open(journal::JobLog& log, std::string_view sink);

  /// Empty when there is nothing, or what there is is damaged.
  [[nodiscard]] std::string recall() const;
  /// Replaces the file at once as a whole.
  Status keep(std::string_view bytes);

 private:
  SinkMemory(std::unique_ptr<Directory> folder, std::string file)
      : folder_(std::move(folder)), file_(std::move(file)) {}

  std::unique_ptr<Directory> folder_;
  std::string file_;
};

}  // namespace goodput::monitor
