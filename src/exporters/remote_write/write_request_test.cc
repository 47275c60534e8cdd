// SPDX-License-Identifier: Apache-2.0
#include "exporters/remote_write/write_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "exporters/proto/remote_write.pb.h"
#include "report/testing/samples.h"

namespace goodput::exporters {
namespace {

TEST(WriteRequest, BytesAreThoseOfTheProtocol) {
  // goodput_ratio{job="j1"} 0.875 at 1767225600000, as computed from the protocol's field tables.
  constexpr unsigned char kBytes[] = {0x0a, 0x38, 0x0a, 0x19, 0x0a, 0x08, 0x5f, 0x5f, 0x6e, 0x61, 0x6d, 0x65,
                                      0x5f, 0x5f, 0x12, 0x0d, 0x67, 0x6f, 0x6f, 0x64, 0x70, 0x75, 0x74, 0x5f,
                                      0x72, 0x61, 0x74, 0x69, 0x6f, 0x0a, 0x09, 0x0a, 0x03, 0x6a, 0x6f, 0x62,
                                      0x12, 0x02, 0x6a, 0x31, 0x12, 0x10, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00,
                                      0x00, 0xec, 0x3f, 0x10, 0x80, 0xd0, 0xea, 0xb6, 0xb7, 0x33};
  const Family family{.name = "goodput_ratio",
                      .otlp_name = "",
                      .unit = "1",
                      .help = "",
                      .samples = {{.labels = {{"job", "j1"}}, .value = 0.875}}};
  report::Report nothing;
  nothing.as_of_ns = 1'767'225'600'000'000'000;
  remote_write::WriteRequest request;
  add_series(nothing, {family}, request);
  remote_write::WriteRequest last;
  *last.add_timeseries() = request.timeseries(request.timeseries_size() - 1);
  EXPECT_EQ(last.SerializeAsString(), std::string(reinterpret_cast<const char*>(kBytes), sizeof kBytes));
}

TEST(WriteRequest, LabelsAreSortedUniqueAndNeverEmpty) {
  for (const report::testing::Sample& sample : report::testing::samples()) {
    remote_write::WriteRequest request;
    const auto series = add_series(sample.report, {}, request);
    EXPECT_EQ(series.size(), static_cast<size_t>(request.timeseries_size())) << sample.name;
    for (const auto& each : request.timeseries()) {
      for (const auto& label : each.labels()) EXPECT_FALSE(label.value().empty());
      for (int i = 1; i < each.labels_size(); ++i) EXPECT_LT(each.labels(i - 1).name(), each.labels(i).name());
      ASSERT_EQ(each.samples_size(), 1);
      EXPECT_EQ(each.samples(0).timestamp(), sample.report.as_of_ns / 1'000'000);
    }
  }
}

TEST(WriteRequest, AVanishedSeriesEndsWithTheMarkOfStaleness) {
  report::Report report;
  remote_write::WriteRequest first, second;
  const auto series = add_series(report, {}, first);
  add_stale({*series.begin()}, 7'000'000, second);
  ASSERT_EQ(second.timeseries_size(), 1);
  EXPECT_EQ(std::bit_cast<uint64_t>(second.timeseries(0).samples(0).value()), 0x7ff0000000000002U);
  EXPECT_EQ(second.timeseries(0).samples(0).timestamp(), 7);
  EXPECT_EQ(second.timeseries(0).labels(0).name(), "__name__");
}

}  // namespace
}  // namespace goodput::exporters
