// The first of a few bytes in a text, eight bytes at a time.
//
//   const char* at = find_first_of<'"', '\\'>(begin, end);       // end when there is none
//
// For scanning text that is mostly something else, where strpbrk() is slow and memchr() knows one byte only. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace goodput {

namespace detail {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighBits = 0x8080808080808080;

/// The high bit of every byte that is zero. Bytes above a zero one may be taken for zero too; the lowest mark is right.
constexpr uint64_t zero_bytes(uint64_t word) { return (word - kOnes) & ~word & kHighBits; }

inline uint64_t load_word(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Which byte, in the order of memory, the lowest mark stands for.
inline int first_marked_byte(uint64_t marks) {
  static_assert(std::endian::native == std::endian::little, "words are read with their first byte lowest");
  return std::countr_zero(marks) / 8;
}

}  // namespace detail

template <char... kWanted>
const char* find_first_of(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    const uint64_t word = detail::load_word(at);
    const uint64_t marks = (detail::zero_bytes(word ^ (detail::kOnes * static_cast<uint8_t>(kWanted))) | ...);
    if (marks != 0) return at + detail::first_marked_byte(marks);
  }
  while (at != end && ((*at != kWanted) && ...)) ++at;
  return at;
}

/// The first byte from `at` on that is a quote, a backslash, a control character or not ASCII: where a plain string of
/// JSON ends. One such byte, and seven that can be read, must follow.
inline const char* end_of_plain_text(const char* at) {
  using detail::kOnes;
  for (;; at += 8) {
    const uint64_t word = detail::load_word(at);
    const uint64_t control = word - kOnes * 0x20;  // borrows where a byte is below a space; above it nothing matters
    const uint64_t marks = ((word | control) & detail::kHighBits) | detail::zero_bytes(word ^ (kOnes * '"')) |
                           detail::zero_bytes(word ^ (kOnes * '\\'));
    if (marks != 0) return at + detail::first_marked_byte(marks);
  }
}

}  // namespace goodput
