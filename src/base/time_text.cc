// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "base/decimal.h"

namespace goodput {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
/// The limits of SEMANTICS for times (2096-10-02) and durations.
constexpr int64_t kMaxTimeNs = 4'000'000'000 * kSecond;
constexpr int64_t kMaxDurationNs = 1'000'000'000 * kSecond;

struct Unit {
  std::string_view name;
  int64_t seconds;
};
constexpr Unit kUnits[] = {{"s", 1}, {"m", 60}, {"h", 3'600}, {"d", 86'400}, {"w", 604'800}};

const Unit* unit_named(std::string_view name) {
  const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
  return unit == std::end(kUnits) ? nullptr : unit;
}

/// A number with a unit, without sign.
std::optional<int64_t> parse_with_unit(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const Unit* const unit = unit_named(text.substr(digits));
  const std::optional<Decimal> number = parse_plain_number(text.substr(0, digits));
  if (unit == nullptr || !number || number->negative) return std::nullopt;
  const std::optional<int64_t> billionths = to_nanoseconds(*number, kMaxDurationNs / unit->seconds);  // of the unit
  if (!billionths) return std::nullopt;
  return *billionths * unit->seconds;
}

Status not_understood(std::string_view what, std::string_view text, std::string_view expected) {
  return {StatusCode::kInvalidArgument,
          "reading the " + std::string(what) + " \"" + std::string(text) + "\": expected " + std::string(expected)};
}

/// Takes parts of a text from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return text_.empty(); }
  [[nodiscard]] char next() const { return text_.empty() ? '\0' : text_.front(); }

  bool take(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }

  /// Exactly `count` digits, at most `most`.
  bool take_number(size_t count, int most, int& value) {
    if (text_.size() < count) return false;
    const auto read = std::from_chars(text_.data(), text_.data() + count, value);
    if (read.ec != std::errc() || read.ptr != text_.data() + count || text_.front() == '-' || value > most)
      return false;
    text_.remove_prefix(count);
    return true;
  }

  /// "…" digits after a point; as nanoseconds (10^9 when they round up to a whole second).
  bool take_fraction(int64_t& ns) {
    const size_t length = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const std::string decimals = "0." + std::string(text_.substr(0, length));
    const std::optional<Decimal> value = parse_plain_number(decimals);
    if (length == 0 || !value) return false;
    ns = *to_nanoseconds(*value, kSecond);
    text_.remove_prefix(length);
    return true;
  }

 private:
  std::string_view text_;
};

/// "Z", "+hh:mm", "+hhmm", "+hh" or nothing → seconds east of UTC.
bool take_zone(Scanner& in, int64_t& offset_s) {
  if (in.done() || in.take("Zz")) return in.done();
  const bool west = in.next() == '-';
  int hours = 0;
  int minutes = 0;
  if (!in.take("+-") || !in.take_number(2, 23, hours)) return false;
  if (!in.done()) {
    in.take(":");
    if (!in.take_number(2, 59, minutes)) return false;
  }
  offset_s = (hours * 60 + minutes) * (west ? -60 : 60);
  return in.done();
}

/// "hh:mm" and perhaps ":ss" and decimals → nanoseconds of the day.
bool take_clock(Scanner& in, int64_t& ns) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  int64_t fraction_ns = 0;
  if (!in.take_number(2, 23, hour) || !in.take(":") || !in.take_number(2, 59, minute)) return false;
  if (in.take(":") && !in.take_number(2, 60, second)) return false;
  if (in.take(".,") && !in.take_fraction(fraction_ns)) return false;
  ns = ((hour * 60LL + minute) * 60 + second) * kSecond + fraction_ns;
  return true;
}

std::string format(int64_t ns, int64_t unit_ns, int decimals) {
  using namespace std::chrono;
  const sys_time<nanoseconds> at{nanoseconds(ns)};
  const sys_days day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%0*lldZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), decimals,
                static_cast<long long>(clock.subseconds().count() / unit_ns));
  return text;
}

}  // namespace

std::optional<int64_t> parse_rfc3339(std::string_view text) {
  Scanner in(text);
  int year = 0;
  int month = 0;
  int day = 0;
  int64_t clock_ns = 0;
  int64_t offset_s = 0;
  if (!in.take_number(4, 9999, year) || !in.take("-") || !in.take_number(2, 12, month) || !in.take("-") ||
      !in.take_number(2, 31, day)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  if (!in.done() && (!in.take("Tt ") || !take_clock(in, clock_ns) || !take_zone(in, offset_s))) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t second = days * 86'400 - offset_s;
  if (second < 0 || second > kMaxTimeNs / kSecond) return std::nullopt;
  const int64_t ns = second * kSecond + clock_ns;
  if (ns > kMaxTimeNs) return std::nullopt;
  return ns;
}

Result<int64_t> parse_time(std::string_view text, int64_t now_ns) {
  if (text == "now") return now_ns;
  if (const std::optional<Decimal> epoch = parse_json_number(text)) {
    if (const std::optional<int64_t> ns = to_nanoseconds(*epoch, kMaxTimeNs)) return *ns;
  }
  if (const std::optional<int64_t> ns = parse_rfc3339(text)) return *ns;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    const std::optional<int64_t> distance_ns = parse_with_unit(text.substr(1));
    if (distance_ns) return text.front() == '-' ? now_ns - *distance_ns : now_ns + *distance_ns;
  }
  return not_understood("time", text, "seconds since the epoch, 2026-01-01T00:00:00Z, or a time ago such as -2h");
}

Result<int64_t> parse_duration(std::string_view text) {
  if (const std::optional<Decimal> seconds = parse_json_number(text)) {
    if (const std::optional<int64_t> ns = to_nanoseconds(*seconds, kMaxDurationNs)) return *ns;
  }
  if (const std::optional<int64_t> ns = parse_with_unit(text)) return *ns;
  return not_understood("duration", text, "seconds, or a number with a unit such as 90s, 15m, 24h, 7d");
}

std::string format_time(int64_t ns) {
  const int64_t below = ns % 1000 + (ns % 1000 < 0 ? 1000 : 0);
  const bool up = below > 500 || (below == 500 && (ns - below) / 1000 % 2 != 0);
  return format(ns - below + (up ? 1000 : 0), 1000, 6);
}

std::string format_time_ns(int64_t ns) { return format(ns, 1, 9); }

}  // namespace goodput
