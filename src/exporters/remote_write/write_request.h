// A job's figures as Prometheus' remote write 1.0 takes them.
//
//   remote_write::WriteRequest request;
//   std::set<std::string> series = add_series(report, own, request);
//   add_stale(vanished, report.as_of_ns, request);
//   body = snappy(request)
//
// Every series has one sample, at the report's time. Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "exporters/metrics.h"

namespace goodput::remote_write {
class WriteRequest;
}

namespace goodput::exporters {

/// The families of a report, with the job's labels, and `own` ones of the program without. Returns the series, each as
/// a text of its labels.
std::set<std::string> add_series(const report::Report& report, const std::vector<Family>& own,
                                 remote_write::WriteRequest& request);

/// Says of series, as add_series() gave them, that they are no more.
void add_stale(const std::set<std::string>& series, int64_t time_ns, remote_write::WriteRequest& request);

}  // namespace goodput::exporters
