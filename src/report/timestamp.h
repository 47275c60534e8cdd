// Instants as RFC 3339 text, and back: the form of every time in the report's JSON.
//
//   format_timestamp(1'767'225'600'000'000'000)            // "2026-01-01T00:00:00.000000Z"
//   parse_timestamp("2026-01-01T00:00:00.5Z")              // 1'767'225'600'500'000'000
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goodput::report {

/// UTC, microseconds, rounded down.
std::string format_timestamp(int64_t time_ns);

/// What format_timestamp() writes, with one to nine decimals; empty for anything else.
std::optional<int64_t> parse_timestamp(std::string_view text);

}  // namespace goodput::report
