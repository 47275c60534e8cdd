// A job's figures and news as OTLP's messages.
//
//   otlp::MetricsRequest request;
//   add_metrics(report, own_families, since_ns, resource, request);
//   if (add_news(update, told, seen) > 0) …                 // told.pending: what is to be sent as log records
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/metrics.h"

namespace goodput::otlp {
class LogsRequest;
class MetricsRequest;
class Told;
}  // namespace goodput::otlp

namespace goodput::exporters {

using OtlpAttributes = std::vector<std::pair<std::string, std::string>>;

/// The families of a report, with the job's labels, and `own` ones of the program without. Counters count since
/// `since_ns`. Values that are no numbers are left out.
void add_metrics(const report::Report& report, const std::vector<Family>& own, int64_t since_ns,
                 const OtlpAttributes& resource, otlp::MetricsRequest& request);

/// Appends a record to `told.pending` for each change of the job's state, each disruption whose end is known, and each
/// kind of finding that `told` does not know yet. Each has an attribute `event_id`, the same whenever it is told.
/// Changes up to the number `changes_seen`, which this moves on, are known. Returns how many it appended.
size_t add_news(const Update& update, otlp::Told& told, uint64_t& changes_seen);

/// What waits in `told` as a request.
void add_logs(const otlp::Told& told, const OtlpAttributes& resource, otlp::LogsRequest& request);

}  // namespace goodput::exporters
