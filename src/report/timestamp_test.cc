// SPDX-License-Identifier: Apache-2.0
#include "report/timestamp.h"

#include <gtest/gtest.h>

namespace goodput::report {
namespace {

TEST(Timestamp, FormatsMicrosecondsRoundedDown) {
  EXPECT_EQ(format_timestamp(1'767'225'600'000'000'000), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_timestamp(1'767'225'600'123'456'999), "2026-01-01T00:00:00.123456Z");
  EXPECT_EQ(format_timestamp(1'709'208'000'000'000'000), "2024-02-29T12:00:00.000000Z");
  EXPECT_EQ(format_timestamp(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_timestamp(4'000'000'000'000'000'000), "2096-10-02T07:06:40.000000Z");
}

TEST(Timestamp, ReadsWhatItWrites) {
  for (const int64_t time_ns : {int64_t{0}, int64_t{1'767'225'600'123'456'000}, int64_t{-86'400'000'000'000}}) {
    EXPECT_EQ(parse_timestamp(format_timestamp(time_ns)), time_ns);
  }
  EXPECT_EQ(parse_timestamp("2026-01-01T00:00:00.5Z"), 1'767'225'600'500'000'000);
  EXPECT_EQ(parse_timestamp("2026-01-01T00:00:00.123456789Z"), 1'767'225'600'123'456'789);
}

TEST(Timestamp, RefusesWhatIsNoTime) {
  for (const char* text : {"", "2026-01-01", "2026-01-01T00:00:00Z", "2026-13-01T00:00:00.0Z", "2026-02-29T00:00:00.0Z",
                           "2026-01-01T24:00:00.0Z", "2026-01-01T00:60:00.0Z", "2026-01-01T00:00:00.0",
                           "9999-01-01T00:00:00.0Z", "2026-01-01 00:00:00.0Z", "2026-01-01T00:00:00.-5Z",
                           "2026-01-01T00:00:00.1234567890Z", "+026-01-01T00:00:00.0Z"}) {
    EXPECT_FALSE(parse_timestamp(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace goodput::report
