// SPDX-License-Identifier: Apache-2.0
#include "exporters/cloud_monitoring/create_time_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goodput::exporters {
namespace {

TEST(CreateTimeSeries, BodyIsWhatTheServiceReads) {
  const std::vector<WorkloadSeries> batch = {
      {.name = "goodput_time", .labels = {{"goodput_source", "TOTAL"}}, .value = 1234.5},
      {.name = "disruptions", .labels = {}, .value = int64_t{3}}};
  const MonitoredResource resource = {.type = "compute.googleapis.com/Workload",
                                      .labels = {{"location", "us-east5-a"}, {"workload_id", "J\xFF"}}};
  EXPECT_EQ(create_time_series_body(batch, "p/", resource, 1'767'225'600'500'000'000),
            R"({"timeSeries":[)"
            R"({"metric":{"type":"p/goodput_time","labels":{"goodput_source":"TOTAL"}},)"
            R"("resource":{"type":"compute.googleapis.com/Workload","labels":{"location":"us-east5-a","workload_id":"J)"
            "\xEF\xBF\xBD"
            R"("}},)"
            R"("points":[{"interval":{"endTime":"2026-01-01T00:00:00.500000000Z"},"value":{"doubleValue":1234.5}}]},)"
            R"({"metric":{"type":"p/disruptions","labels":{}},)"
            R"("resource":{"type":"compute.googleapis.com/Workload","labels":{"location":"us-east5-a","workload_id":"J)"
            "\xEF\xBF\xBD"
            R"("}},)"
            R"("points":[{"interval":{"endTime":"2026-01-01T00:00:00.500000000Z"},"value":{"int64Value":"3"}}]}]})");
}

struct Told {
  const char* message;
  std::vector<size_t> later;  // those that may pass later
  std::vector<size_t> never;  // those that will not
};

TEST(CreateTimeSeries, RefusalsAreReadByIndex) {
  const Told all[] = {
      {"One or more TimeSeries could not be written: One or more points were written more frequently than the maximum "
       "sampling period configured for the metric.: timeSeries[0-2,5]",
       {0, 1, 2, 5},
       {}},
      {"One or more TimeSeries could not be written: Unrecognized metric labels: [a]: timeSeries[3]; Points must be "
       "written in order. One or more of the points specified had an older end time than the most recent point.: "
       "timeSeries[1]",
       {1},
       {3}},
      {"One or more TimeSeries could not be written: Internal error encountered.: timeSeries[4]", {4}, {}},
  };
  for (const auto& [message, later, never] : all) {
    gcp::ApiError error;
    error.full_message = message;
    const auto refusals = read_refusals(error, 6);
    ASSERT_TRUE(refusals.has_value()) << message;
    std::vector<size_t> seen_later, seen_never;
    for (const SeriesRefusal& refusal : *refusals) {
      (refusal.may_pass_later ? seen_later : seen_never).push_back(refusal.index);
    }
    EXPECT_EQ(seen_later, later) << message;
    EXPECT_EQ(seen_never, never) << message;
  }
}

TEST(CreateTimeSeries, WordsWithoutIndexesTellNothing) {
  for (const char* message : {"Quota exceeded", "One or more TimeSeries could not be written:", "timeSeries[0]",
                              "One or more TimeSeries could not be written: x: timeSeries[6]",
                              "One or more TimeSeries could not be written: x: timeSeries[2-1]",
                              "One or more TimeSeries could not be written: x: timeSeries[a]",
                              "One or more TimeSeries could not be written: x: timeSeries[0",
                              "One or more TimeSeries could not be written: x: timeSeries[99999999999999999999]"}) {
    gcp::ApiError error;
    error.full_message = message;
    EXPECT_FALSE(read_refusals(error, 6).has_value()) << message;
  }
}

}  // namespace
}  // namespace goodput::exporters
