// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace goodput {
namespace {

constexpr uint64_t kPowersOfTen[] = {1ULL,
                                     10ULL,
                                     100ULL,
                                     1'000ULL,
                                     10'000ULL,
                                     100'000ULL,
                                     1'000'000ULL,
                                     10'000'000ULL,
                                     100'000'000ULL,
                                     1'000'000'000ULL,
                                     10'000'000'000ULL,
                                     100'000'000'000ULL,
                                     1'000'000'000'000ULL,
                                     10'000'000'000'000ULL,
                                     100'000'000'000'000ULL,
                                     1'000'000'000'000'000ULL,
                                     10'000'000'000'000'000ULL,
                                     100'000'000'000'000'000ULL,
                                     1'000'000'000'000'000'000ULL,
                                     10'000'000'000'000'000'000ULL};

/// Beyond any exponent that matters and any length of text, and far from overflow.
constexpr int64_t kExponentLimit = 1'000'000'000'000;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

/// Whether the eight characters of a word are digits.
constexpr bool are_digits(uint64_t word) {
  constexpr uint64_t kHighHalves = 0xF0F0F0F0F0F0F0F0;
  return ((word & kHighHalves) | (((word + 0x0606060606060606) & kHighHalves) >> 4)) == 0x3333333333333333;
}

/// The value of eight digits, the first in the lowest byte: neighbours are joined, then pairs, then fours.
constexpr uint64_t value_of_digits(uint64_t word) {
  word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;
  word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16;
  return (word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;
}

/// Reads digits on into `value`, which wraps around when they are more than 19; what follows them.
const char* take_digits(const char* at, const char* end, uint64_t& value) {
  if constexpr (std::endian::native == std::endian::little) {
    for (uint64_t word = 0; end - at >= 8; at += 8) {
      std::memcpy(&word, at, sizeof word);
      if (!are_digits(word)) break;
      value = value * 100'000'000 + value_of_digits(word);
    }
  }
  for (; at != end && is_digit(*at); ++at) value = value * 10 + static_cast<uint64_t>(*at - '0');
  return at;
}

/// Reads "e±digits"; what follows them, or null when that is not what stands there.
const char* read_exponent(const char* at, const char* end, int64_t& exponent) {
  ++at;
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  const char* const digits_end = skip_digits(at, end);
  if (at == digits_end) return nullptr;
  for (; at != digits_end; ++at) exponent = std::min(exponent * 10 + (*at - '0'), kExponentLimit);
  if (negative) exponent = -exponent;
  return at;
}

/// Adds digits to a head until it holds as many as it can.
void add_digits(const char* at, const char* end, uint64_t& head, int64_t& held) {
  const int64_t count = std::min(end - at, kHeadDigits - held);
  held += count;
  for (end = at + count; at != end; ++at) head = head * 10 + static_cast<uint64_t>(*at - '0');
}

/// The value of digits [whole, whole_end) "." [part, part_end) times 10^exponent. `part` follows one point after
/// `whole_end`, or equals it when there is none.
Decimal normalised(const char* whole, const char* whole_end, const char* part, const char* part_end, int64_t exponent,
                   bool negative) {
  while (part_end != part && part_end[-1] == '0') --part_end;
  exponent -= part_end - part;
  const char* last = part_end;  // one past the last digit that counts
  if (part_end == part) {
    last = whole_end;
    while (last != whole && last[-1] == '0') --last;
    exponent += whole_end - last;
  }
  const char* first = whole;
  while (first != last && (*first == '0' || *first == '.')) ++first;
  if (first == last) return {};
  const bool point = first < whole_end && last > whole_end;
  Decimal value{.head = 0,
                .digit_count = last - first - (point ? 1 : 0),
                .exponent = exponent,
                .written = {first, static_cast<size_t>(last - first)},
                .negative = negative};
  int64_t held = 0;
  if (first < whole_end) add_digits(first, std::min(last, whole_end), value.head, held);
  if (last > whole_end) add_digits(std::max(first, part), last, value.head, held);
  return value;
}

/// How the digits after the first `kept` compare with half a unit of the last kept one: -1, 0, 1, or -2 when there are
/// none at all.
int compare_rest_with_half(const Decimal& value, int64_t kept) {
  if (kept >= value.digit_count) return -2;
  if (kept < 0) return -1;  // 0.0…
  for (const char& c : value.written) {
    if (c == '.') continue;
    if (kept-- > 0) continue;
    if (c != '5') return c < '5' ? -1 : 1;
    return &c == &value.written.back() ? 0 : 1;  // the last digit is never zero
  }
  return -2;
}

}  // namespace

std::optional<Decimal> parse_json_number(std::string_view text) {
  Decimal value;
  const char* const end = text.data() + text.size();
  return read_json_number(text.data(), end, value) == end && !text.empty() ? std::optional(value) : std::nullopt;
}

const char* read_json_number(const char* at, const char* end, Decimal& value) {
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const whole = at;
  uint64_t head = 0;
  at = take_digits(at, end, head);
  const char* const whole_end = at;
  if (whole == whole_end || (*whole == '0' && whole_end - whole > 1)) return nullptr;
  const char* part = whole_end;
  if (at != end && *at == '.') {
    part = at + 1;
    at = take_digits(part, end, head);
    if (at == part) return nullptr;
  }
  const char* const part_end = at;
  int64_t exponent = 0;
  if (at != end && (*at == 'e' || *at == 'E')) at = read_exponent(at, end, exponent);
  if (at == nullptr) return nullptr;
  const int64_t digits = (whole_end - whole) + (part_end - part);
  if (digits > kHeadDigits || *whole == '0') {
    value = normalised(whole, whole_end, part, part_end, exponent, negative);
    return at;
  }
  // The common case, read already but for zeros at its end.
  value.head = head;
  value.digit_count = digits;
  value.exponent = exponent - (part_end - part);
  value.negative = negative;
  const char* last = part_end;
  while (last[-1] == '0' || last[-1] == '.') {
    if (*--last == '.') continue;
    value.head /= 10;
    --value.digit_count;
    ++value.exponent;
  }
  value.written = {whole, static_cast<size_t>(last - whole)};
  return at;
}

std::optional<Decimal> parse_plain_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  const char* const whole = at;
  const char* const whole_end = skip_digits(at, end);
  if (whole == whole_end) return std::nullopt;
  const char* part = whole_end;
  if (whole_end != end && *whole_end == '.') ++part;
  if (skip_digits(part, end) != end) return std::nullopt;
  return normalised(whole, whole_end, part, end, 0, negative);
}

std::optional<int64_t> to_nanoseconds(const Decimal& seconds, int64_t most_ns) {
  if (seconds.is_zero()) return 0;
  if (seconds.negative || most_ns < 0) return std::nullopt;
  const int64_t exponent = seconds.exponent + 9;
  const int64_t kept = seconds.digit_count + exponent;  // digits of the integral part
  if (kept > kHeadDigits) return std::nullopt;
  uint64_t ns = 0;
  if (exponent >= 0) {
    ns = seconds.head * kPowersOfTen[exponent];
  } else if (kept > 0) {
    ns = seconds.head / kPowersOfTen[std::min(seconds.digit_count, kHeadDigits) - kept];
  }
  const int rest = compare_rest_with_half(seconds, kept);
  const auto most = static_cast<uint64_t>(most_ns);
  if (ns > most || (ns == most && rest != -2)) return std::nullopt;
  if (rest == 1 || (rest == 0 && ns % 2 == 1)) ++ns;
  return static_cast<int64_t>(ns);
}

std::optional<int64_t> to_integer(const Decimal& value, int64_t most) {
  if (value.exponent < 0 || value.digit_count + value.exponent > kHeadDigits) return std::nullopt;
  const uint64_t magnitude = value.head * kPowersOfTen[value.exponent];
  if (magnitude > static_cast<uint64_t>(most)) return std::nullopt;
  const auto integer = static_cast<int64_t>(magnitude);
  return value.negative ? -integer : integer;
}

double to_double(const Decimal& value) {
  std::string text = value.negative ? "-" : "";
  int64_t exponent = value.exponent;
  for (const char c : value.written) {
    if (c != '.') text.push_back(c);
  }
  if (text.empty() || text == "-") return 0;
  text += 'e';
  text += std::to_string(exponent);
  double result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error == std::errc::result_out_of_range && exponent + value.digit_count > 0) {
    return value.negative ? -HUGE_VAL : HUGE_VAL;
  }
  return result;
}

void append_seconds(std::string& out, int64_t ns) {
  uint64_t magnitude = static_cast<uint64_t>(ns);
  if (ns < 0) {
    out.push_back('-');
    magnitude = -magnitude;
  }
  char digits[24];
  const auto whole = std::to_chars(digits, digits + sizeof digits, magnitude / 1'000'000'000);
  out.append(digits, whole.ptr);
  char part[11] = ".000000000";
  uint64_t rest = magnitude % 1'000'000'000;
  for (int i = 9; i > 0; --i, rest /= 10) part[i] = static_cast<char>('0' + rest % 10);
  int length = 10;
  while (length > 2 && part[length - 1] == '0') --length;
  out.append(part, static_cast<size_t>(length));
}

}  // namespace goodput
