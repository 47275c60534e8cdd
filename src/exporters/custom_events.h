// Which of a job's custom events have series of their own in a sink that counts series.
//
//   const CustomEvents custom(report.custom_badput_seconds);
//   for (const auto& [source, seconds] : custom.by_source(window.custom_badput_seconds)) send(source, seconds);
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "report/report.h"

namespace goodput::exporters {

/// A job may name its events by anything, a shard or a file among them. Those with the most time have series of their
/// own, the rest of them one together, `CUSTOM_BADPUT_EVENTS.other`: with three windows and all classes a job then
/// stays below 500 series.
constexpr size_t kMaxCustomEvents = 64;

/// The custom events that have series of their own: those with the most time in the job.
class CustomEvents {
 public:
  explicit CustomEvents(const report::SecondsByName& of_job);

  /// Under the class with their own names, as everywhere that knows no maps; names are upper-cased, `other` is not.
  [[nodiscard]] report::SecondsByName by_source(const report::SecondsByName& events) const;

 private:
  std::set<std::string> named_;
};

}  // namespace goodput::exporters
