// Times and durations as people and log services write them, in exact nanoseconds.
//
// For options, configuration and the time stamps of exported log entries.
//
//   Result<int64_t> from = parse_time("-2h", now_ns);            // two hours before now
//   Result<int64_t> to = parse_time("2026-01-01T00:00:00Z", now_ns);
//   Result<int64_t> window = parse_duration("15m");
//   format_time(*to) == "2026-01-01T00:00:00.000000Z"
//
// Pure functions; the clock is the caller's. Failures are kInvalidArgument, with the text in the message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput {

/// Nanoseconds since the epoch of: seconds since the epoch ("1767225600.25"), RFC 3339 (parse_rfc3339), "now", or a
/// time relative to `now_ns` ("-2h", "+90s": a sign, a number and a unit). The range is the years 1970 to 2096, as in
/// logs.
[[nodiscard]] Result<int64_t> parse_time(std::string_view text, int64_t now_ns);

/// Nanoseconds of a number of seconds ("90", "0.5") or of a number with one unit of s, m, h, d, w ("15m", "1.5h").
/// Never negative, at most 10^9 s.
[[nodiscard]] Result<int64_t> parse_duration(std::string_view text);

/// "2026-01-01T00:00:00.123456789Z" and what comes close: any number of decimals (rounded to the nanosecond, halves to
/// even), a space or "t" for the "T", "z", an offset ("+02:00", "-0730", "+02"), no zone (UTC), no seconds, a date
/// alone. A leap second is the second after it. Empty for anything else and for times outside 1970 to 2096.
[[nodiscard]] std::optional<int64_t> parse_rfc3339(std::string_view text);

/// RFC 3339 in UTC with six decimals, rounded to the nearest microsecond, halves to even.
[[nodiscard]] std::string format_time(int64_t ns);

/// The same with nine decimals, exact.
[[nodiscard]] std::string format_time_ns(int64_t ns);

}  // namespace goodput
