// Numbers as people read them: durations, shares, counts, money and instants.
//
// Use these for what a terminal shows; machines get the JSON. Each value is rounded to what a glance can hold.
//
//   human_duration(273'600)              // "3d 4h"
//   human_percent(99.97)                 // ">99.9%": only what is whole is shown as 100 %
//   human_money(12'345.6, "USD", true)   // "$12,346"
//
// Pure functions; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goodput::report {

/// Two units at most, or three digits below a minute: "3d 4h", "26h 7m", "4m 5s", "42.1s", "8.00s", "99.6ms", "850us".
std::string human_duration(double seconds);

/// "3d 4h ago"; "never" for a time of 0, "0s ago" and the like for one that is yet to come.
std::string human_ago(int64_t time_ns, int64_t now_ns);

/// One decimal. What is not zero never shows as 0, and what is not all never as 100.
std::string human_percent(double percent);

/// Thousands apart: "71,999".
std::string human_count(int64_t count);

/// Cents below 100, whole amounts above. Known currencies by their sign ("unicode" for those beyond ASCII), others by
/// code.
std::string human_money(double amount, std::string_view currency, bool unicode);

/// "2026-01-01 00:00:00" in UTC; without seconds on an axis of `span_ns` from an hour on, where they would be noise.
std::string human_instant(int64_t time_ns, int64_t span_ns = 0);

/// "SIGKILL", or "signal 99" where the number has no name.
std::string human_signal(int number);

}  // namespace goodput::report
