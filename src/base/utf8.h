// UTF-8, one code point at a time.
//
// For text of unknown origin: what is not UTF-8 is told apart, never guessed.
//
//   for (size_t i = 0; i < text.size();) {
//     const CodePoint c = decode_utf8(text, i);
//     i += c.length;                          // 1 for a byte that belongs to no code point
//   }
//
// Pure functions, nothing allocated but by what appends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace goodput {

struct CodePoint {
  uint32_t value = 0;
  uint32_t length = 1;  ///< bytes in the text
  bool valid = false;   ///< false: `value` is the byte itself, and `length` 1
};

/// The code point that starts at `i`, which must lie inside `text`. Overlong forms, surrogates and values beyond
/// U+10FFFF are invalid.
inline CodePoint decode_utf8(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<uint32_t>(static_cast<unsigned char>(text[k])); };
  const uint32_t lead = byte(i);
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return {lead, 1, false};
  uint32_t value = lead & (0xFFU >> (length + 1));
  for (uint32_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i + k) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[length] || value > 0x10FFFF || surrogate) return {lead, 1, false};
  return {value, length, true};
}

/// Appends the bytes of a code point up to U+10FFFF; a surrogate is written in the same pattern (it is not valid
/// UTF-8).
inline void append_utf8(std::string& out, uint32_t value) {
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
    return;
  }
  const int more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out.push_back(static_cast<char>(kLead[more] | value >> (6 * more)));
  for (int k = more - 1; k >= 0; --k) out.push_back(static_cast<char>(0x80 | (value >> (6 * k) & 0x3F)));
}

/// What stands where bytes were that are not UTF-8.
constexpr uint32_t kReplacementCharacter = 0xFFFD;

/// Appends the text with every byte that is not UTF-8 replaced by U+FFFD.
inline void append_repaired(std::string& out, std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (c.valid) {
      out.append(text, i, c.length);
    } else {
      append_utf8(out, kReplacementCharacter);
    }
    i += c.length;
  }
}

}  // namespace goodput
