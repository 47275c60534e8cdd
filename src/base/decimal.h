// Decimal numbers as they are written, without a detour over binary floating point.
//
// Use it for every number of an event log: times are the decimals as written, to the nanosecond, and a step number may
// be an integer, a float with an integral value, or a string of either. A double cannot hold 1767225725.123456789.
//
//   std::optional<Decimal> seconds = parse_json_number("1767225725.1184");
//   std::optional<int64_t> ns = seconds ? to_nanoseconds(*seconds, kMaxTimeNs) : std::nullopt;
//
// A Decimal refers to the text that it was read from, which must outlive it. Pure functions, no allocation, no failure
// but an empty result; time linear in the length of the text, whatever it holds. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goodput {

/// ± digits · 10^exponent. Normalised (no zero at either end of the digits): equal values have equal members, `written`
/// apart.
struct Decimal {
  uint64_t head = 0;         ///< the digits as an integer; of more than 19 digits the first 19
  int64_t digit_count = 0;   ///< 0: the value is zero
  int64_t exponent = 0;      ///< power of ten of the last digit; 0 for zero
  std::string_view written;  ///< from the first digit to the last, perhaps with a point between
  bool negative = false;     ///< never for zero

  [[nodiscard]] bool is_zero() const { return digit_count == 0; }
};

/// Digits that `head` always holds: 10^19 fits 64 bits.
constexpr int64_t kHeadDigits = 19;

/// A number by the grammar of JSON, the whole of `text`; empty for anything else, NaN and Infinity included.
[[nodiscard]] std::optional<Decimal> parse_json_number(std::string_view text);

/// The longest such number that stands at `at`, before `end`: returns what follows it; null when none stands there.
[[nodiscard]] const char* read_json_number(const char* at, const char* end, Decimal& value);

/// Sign, digits, and perhaps a point with or without digits after it ("+12", "007", "3.", "3.0"), the whole of `text`.
[[nodiscard]] std::optional<Decimal> parse_plain_number(std::string_view text);

/// Seconds → the nearest nanosecond, halves to the even one. Empty when the value lies outside [0, most_ns] before it
/// is rounded.
[[nodiscard]] std::optional<int64_t> to_nanoseconds(const Decimal& seconds, int64_t most_ns);

/// The value where it is an integer within ±most (which is at most 10^18); else empty.
[[nodiscard]] std::optional<int64_t> to_integer(const Decimal& value, int64_t most);

/// The nearest double; infinite beyond its range.
[[nodiscard]] double to_double(const Decimal& value);

/// Appends nanoseconds as seconds, with as many decimals as they need but at least one: "1767225725.1184", "3.0".
/// Reading the text gives the same nanosecond.
void append_seconds(std::string& out, int64_t ns);

}  // namespace goodput
