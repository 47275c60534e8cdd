// Where a TensorBoardExporter's event files lie: a folder of this machine, or of a bucket.
//
//   RETURN_IF_ERROR(folder->read_back(visit));         // first, and again after kAlreadyExists
//   Status status = folder->append(unwritten);         // takes off what it wrote; the rest comes again
//
// The writer of a folder is one. Used by one thread, cancel() by any. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "exporters/tensorboard/read_records.h"

namespace goodput::exporters {

/// Of our event files: "events.out.tfevents.<ten digits of seconds>.<host>.<process>.goodput".
constexpr std::string_view kEventFilePrefix = "events.out.tfevents.";
constexpr std::string_view kEventFileSuffix = ".goodput";

/// The name of one that begins now, or later than `newest_seconds`: readers take them in that order.
std::string event_file_name(int64_t now_ns, int64_t newest_seconds);
/// The seconds in such a name; 0 for any other name.
int64_t event_file_seconds(std::string_view name);

class EventFolder {
 public:
  virtual ~EventFolder() = default;
  [[nodiscard]] virtual const std::string& path() const = 0;

  /// Gives what earlier files have, in their order.
  virtual Status read_back(VisitRecord visit) = 0;
  /// Writes to the end of a file, and removes from `unwritten` what was written. kUnavailable: the same may be written
  /// later. kAlreadyExists: somebody else wrote there: what is there is to be read anew.
  virtual Status append(std::string& unwritten) = 0;

  [[nodiscard]] virtual int64_t pause_ns() const { return 0; }
  [[nodiscard]] virtual int64_t retry_after_ns() const { return 0; }
  virtual void cancel() {}
};

}  // namespace goodput::exporters
