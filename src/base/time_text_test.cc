// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace goodput {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNewYear2026 = 1'767'225'600 * kSecond;

std::string shown(const Result<int64_t>& result) { return result.ok() ? std::to_string(*result) : "refused"; }
std::string at(int64_t ns) { return std::to_string(ns); }

TEST(ParseTime, TakesEpochSecondsCalendarTimesAndDistancesFromNow) {
  const int64_t now = kNewYear2026;
  const std::vector<std::pair<std::string, std::string>> table = {
      {"1767225600", at(now)},
      {"1767225600.25", at(now + kSecond / 4)},
      {"1.7672256e9", at(now)},
      {"0", "0"},
      {"2026-01-01T00:00:00Z", at(now)},
      {"2026-01-01T00:00:00", at(now)},
      {"2026-01-01 00:00", at(now)},
      {"2026-01-01", at(now)},
      {"2026-01-01T02:00:00+02:00", at(now)},
      {"2025-12-31T16:30:00-0730", at(now)},
      {"2026-01-01T02:00:00+02", at(now)},
      {"2026-01-01t00:00:00.000000001z", at(now + 1)},
      {"2026-01-01T00:00:00.123456+00:00", at(now + 123'456'000)},
      {"2026-01-01T00:00:00.9999999995Z", at(now + kSecond)},
      {"2026-01-01T00:00:00.0000000005Z", at(now)},
      {"2025-12-31T23:59:60Z", at(now)},
      {"2024-02-29T00:00:00Z", at(1'709'164'800 * kSecond)},
      {"now", at(now)},
      {"-2h", at(now - 7200 * kSecond)},
      {"-90s", at(now - 90 * kSecond)},
      {"-1.5d", at(now - 129'600 * kSecond)},
      {"+0.25s", at(now + kSecond / 4)},
      {"", "refused"},
      {"-5", "refused"},
      {"2h", "refused"},
      {"-2x", "refused"},
      {"yesterday", "refused"},
      {"2025-02-29", "refused"},
      {"2026-13-01", "refused"},
      {"2026-01-01T24:00:00Z", "refused"},
      {"2026-01-01T00:00:00.Z", "refused"},
      {"2026-01-01T00:00:00Zx", "refused"},
      {"2026-01-01T00:00:00+", "refused"},
      {"2026-01-01T-1:00:00", "refused"},
      {"1969-12-31T23:59:59Z", "refused"},
      {"1767225600000", "refused"},  // milliseconds
      {"NaN", "refused"},
  };
  for (const auto& [text, want] : table) EXPECT_EQ(shown(parse_time(text, now)), want) << text;
}

TEST(ParseTime, SaysWhatItWasGiven) {
  EXPECT_EQ(parse_time("soon", 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(parse_time("soon", 0).status().message().find("\"soon\""), std::string::npos);
}

TEST(ParseDuration, TakesSecondsAndUnits) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"90", at(90 * kSecond)},
      {"0.5", at(kSecond / 2)},
      {"90s", at(90 * kSecond)},
      {"15m", at(900 * kSecond)},
      {"24h", at(86'400 * kSecond)},
      {"7d", at(604'800 * kSecond)},
      {"2w", at(1'209'600 * kSecond)},
      {"1.5h", at(5'400 * kSecond)},
      {"0.25s", at(kSecond / 4)},
      {"0", "0"},
      {"1000000000", at(1'000'000'000 * kSecond)},
      {"1000000001", "refused"},
      {"20000d", "refused"},
      {"-1", "refused"},
      {"-1h", "refused"},
      {"", "refused"},
      {"h", "refused"},
      {"1y", "refused"},
      {"1h30", "refused"},
      {"1.2.3s", "refused"},
  };
  for (const auto& [text, want] : table) EXPECT_EQ(shown(parse_duration(text)), want) << text;
}

TEST(FormatTime, RoundsToTheMicrosecondWithHalvesToEven) {
  EXPECT_EQ(format_time(kNewYear2026), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_time(kNewYear2026 + 1'500), "2026-01-01T00:00:00.000002Z");
  EXPECT_EQ(format_time(kNewYear2026 + 2'500), "2026-01-01T00:00:00.000002Z");
  EXPECT_EQ(format_time(kNewYear2026 - 1), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_time(-1'000), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_time(4'000'000'000 * kSecond), "2096-10-02T07:06:40.000000Z");
}

TEST(FormatTime, NanosecondsAreReadBackExactly) {
  for (const int64_t ns : {int64_t{0}, kNewYear2026 + 123'456'789, 3'999'999'999 * kSecond + 999'999'999}) {
    EXPECT_EQ(parse_rfc3339(format_time_ns(ns)), ns);
  }
}

}  // namespace
}  // namespace goodput
