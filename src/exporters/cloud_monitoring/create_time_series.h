// The call timeSeries.create of Cloud Monitoring, as text: what is sent, and what an error says of each series.
//
//   request.body = create_time_series_body(batch, prefix, resource, end_ns);
//   for (const SeriesRefusal& refusal : read_refusals(error, batch.size())) …
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exporters/cloud_monitoring/workload_series.h"
#include "gcp/api_error.h"

namespace goodput::exporters {

struct MonitoredResource {
  std::string type;
  std::vector<std::pair<std::string, std::string>> labels;
};

/// A point each at `end_ns` (wall clock); intervals without a start are those of a GAUGE.
std::string create_time_series_body(std::span<const WorkloadSeries> batch, const std::string& prefix,
                                    const MonitoredResource& resource, int64_t end_ns);

/// Why one series of a call was not written, while others were.
struct SeriesRefusal {
  size_t index = 0;
  std::string cause;
  bool may_pass_later = false;  ///< too soon after the last point, or the service's own trouble
};

/// What the error says of single series, of a call with `count` of them. Nothing: it says nothing of single ones, and
/// some may have been written.
std::optional<std::vector<SeriesRefusal>> read_refusals(const gcp::ApiError& error, size_t count);

}  // namespace goodput::exporters
