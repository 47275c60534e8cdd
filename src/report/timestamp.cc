// SPDX-License-Identifier: Apache-2.0
#include "report/timestamp.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace goodput::report {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

bool read_digits(std::string_view text, size_t at, size_t count, int& value) {
  const std::string_view digits = text.substr(at, count);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + count && value >= 0;
}

}  // namespace

std::string format_timestamp(int64_t time_ns) {
  using namespace std::chrono;
  const sys_time<nanoseconds> time{nanoseconds{time_ns}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const auto of_day = floor<microseconds>(time - day);
  const hh_mm_ss clock{of_day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::optional<int64_t> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd.";
  if (text.size() < kShape.size() + 2 || text.size() > kShape.size() + 10 || text.back() != 'Z') return std::nullopt;
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != 'd' && text[i] != kShape[i]) return std::nullopt;
  }
  int date_year = 0, month_number = 0, day_number = 0, hour = 0, minute = 0, second = 0, fraction = 0;
  const size_t decimals = text.size() - kShape.size() - 1;
  if (!read_digits(text, 0, 4, date_year) || !read_digits(text, 5, 2, month_number) ||
      !read_digits(text, 8, 2, day_number) || !read_digits(text, 11, 2, hour) || !read_digits(text, 14, 2, minute) ||
      !read_digits(text, 17, 2, second) || !read_digits(text, kShape.size(), decimals, fraction)) {
    return std::nullopt;
  }
  const year_month_day date{year{date_year}, month{static_cast<unsigned>(month_number)},
                            day{static_cast<unsigned>(day_number)}};
  if (!date.ok() || date_year > 2261 || date_year < 1678 || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  int64_t fraction_ns = fraction;
  for (size_t i = decimals; i < 9; ++i) fraction_ns *= 10;
  const int64_t seconds = sys_days{date}.time_since_epoch().count() * 86'400LL + hour * 3600 + minute * 60 + second;
  return seconds * kNanosecondsPerSecond + fraction_ns;
}

}  // namespace goodput::report
