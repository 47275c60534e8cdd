// Exact comparison of step times: quotients of nanoseconds and steps.
//
// A step time is unowned time over the steps that an interval covers, a typical one the median of such (of an even
// number the mean of two), so numerators reach 2^117 and denominators 2^109: products are compared in 256 and more
// bits.
//
//   Quotient typical = …;
//   if (less(typical, {.num = d, .den = n}, 2)) …      // 2 · typical < d / n
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace goodput::ledger {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/// A non-negative rational number. Not reduced.
struct Quotient {
  uint128 num = 0;
  uint128 den = 1;
};

/// An unsigned integer of 320 bits, enough for a product of two 128-bit numbers and a 64-bit one.
class Wide {
 public:
  constexpr explicit Wide(uint128 value) : limbs_{static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)} {}

  [[nodiscard]] constexpr Wide times(uint64_t factor) const {
    Wide out(0);
    uint64_t carry = 0;
    for (size_t i = 0; i < limbs_.size(); ++i) {
      const uint128 product = static_cast<uint128>(limbs_[i]) * factor + carry;
      out.limbs_[i] = static_cast<uint64_t>(product);
      carry = static_cast<uint64_t>(product >> 64);
    }
    return out;
  }
  [[nodiscard]] constexpr Wide times(uint128 factor) const {
    return times(static_cast<uint64_t>(factor)) + times(static_cast<uint64_t>(factor >> 64)).shifted();
  }
  [[nodiscard]] constexpr Wide operator+(const Wide& other) const {
    Wide out(0);
    uint64_t carry = 0;
    for (size_t i = 0; i < limbs_.size(); ++i) {
      const uint128 sum = static_cast<uint128>(limbs_[i]) + other.limbs_[i] + carry;
      out.limbs_[i] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
    return out;
  }
  [[nodiscard]] constexpr bool operator<(const Wide& other) const {
    for (size_t i = limbs_.size(); i-- > 0;) {
      if (limbs_[i] != other.limbs_[i]) return limbs_[i] < other.limbs_[i];
    }
    return false;
  }

 private:
  [[nodiscard]] constexpr Wide shifted() const {
    Wide out(0);
    for (size_t i = 1; i < limbs_.size(); ++i) out.limbs_[i] = limbs_[i - 1];
    return out;
  }

  std::array<uint64_t, 5> limbs_{};
};

/// factor · a < b
constexpr bool less(const Quotient& a, const Quotient& b, uint64_t factor = 1) {
  return Wide(a.num).times(b.den).times(factor) < Wide(b.num).times(a.den);
}

/// The nearest integer to num · factor / den (halves up), at most the largest int64. Where the product does not fit 128
/// bits, by long double: right to 1 part in 10^19.
constexpr int64_t scaled(const Quotient& quotient, uint64_t factor) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  uint128 product = 0;
  uint128 doubled = 0;
  if (!__builtin_mul_overflow(quotient.num, static_cast<uint128>(factor), &product) &&
      !__builtin_mul_overflow(product, static_cast<uint128>(2), &doubled) && quotient.den < (uint128{1} << 126)) {
    const uint128 nearest = (doubled + quotient.den) / (2 * quotient.den);
    return nearest > static_cast<uint128>(kMost) ? kMost : static_cast<int64_t>(nearest);
  }
  const long double value = static_cast<long double>(quotient.num) / static_cast<long double>(quotient.den) *
                                static_cast<long double>(factor) +
                            0.5L;
  return value >= static_cast<long double>(kMost) ? kMost : static_cast<int64_t>(value);
}

}  // namespace goodput::ledger
