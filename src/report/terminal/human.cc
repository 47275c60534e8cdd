// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/time_text.h"
#include "report/terminal/text.h"

namespace goodput::report {
namespace {

struct Currency {
  std::string_view code, sign;
  bool ascii;
};
constexpr std::array<Currency, 4> kCurrencies = {
    {{"USD", "$", true}, {"EUR", "€", false}, {"GBP", "£", false}, {"JPY", "¥", false}}};

std::string three_digits(double value, std::string_view unit) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

std::string two_units(int64_t whole, std::string_view unit, int64_t rest, std::string_view rest_unit) {
  return rest == 0 ? fmt::format("{}{}", whole, unit) : fmt::format("{}{} {}{}", whole, unit, rest, rest_unit);
}

}  // namespace

std::string human_duration(double seconds) {
  if (seconds < 0) return "-" + human_duration(-seconds);
  if (!(seconds > 0)) return "0s";
  if (seconds < 0.0009995) return three_digits(seconds * 1e6, "us");
  if (seconds < 0.9995) return three_digits(seconds * 1e3, "ms");
  if (seconds < 59.95) return three_digits(seconds, "s");
  const auto whole = static_cast<int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3'600) return two_units(whole / 60, "m", whole % 60, "s");
  const int64_t minutes = (whole + 30) / 60;
  if (minutes < int64_t{48} * 60) return two_units(minutes / 60, "h", minutes % 60, "m");
  const int64_t hours = (whole + 1'800) / 3'600;
  if (hours < int64_t{100} * 24) return two_units(hours / 24, "d", hours % 24, "h");
  return human_count((hours + 12) / 24) + "d";
}

std::string human_ago(int64_t time_ns, int64_t now_ns) {
  if (time_ns == 0) return "never";
  return human_duration(static_cast<double>(std::max<int64_t>(0, now_ns - time_ns)) / 1e9) + " ago";
}

std::string human_percent(double percent) {
  if (percent > 0 && percent < 0.05) return "<0.1%";
  if (percent < 100 && percent >= 99.95) return ">99.9%";
  return fmt::format("{:.1f}%", percent);
}

std::string human_count(int64_t count) {
  std::string digits = std::to_string(count);
  const int64_t first = count < 0 ? 1 : 0;
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string human_money(double amount, std::string_view currency, bool unicode) {
  std::string sign = printable(currency, unicode) + " ";
  for (const Currency& known : kCurrencies) {
    if (known.code == currency && (known.ascii || unicode)) sign = known.sign;
  }
  const double magnitude = std::fabs(amount);
  const std::string_view minus = amount < 0 ? "-" : "";
  if (magnitude < 99.995) return fmt::format("{}{}{:.2f}", minus, sign, magnitude);
  return fmt::format("{}{}{}", minus, sign, human_count(std::llround(std::min(magnitude, 9e18))));
}

std::string human_instant(int64_t time_ns, int64_t span_ns) {
  constexpr int64_t kHourNs = 3'600'000'000'000;
  std::string text = format_time(time_ns).substr(0, span_ns < kHourNs ? 19 : 16);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string human_signal(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

}  // namespace goodput::report
