// SPDX-License-Identifier: Apache-2.0
#include "event/json_text.h"

#include <charconv>
#include <cstdint>

#include "base/utf8.h"

namespace goodput::event {
namespace {

constexpr uint32_t kBad = UINT32_MAX;

constexpr bool is_high_surrogate(uint32_t point) { return point >= 0xD800 && point <= 0xDBFF; }
constexpr bool is_low_surrogate(uint32_t point) { return point >= 0xDC00 && point <= 0xDFFF; }

/// The four hexadecimal digits that stand at `i`, or kBad.
uint32_t hex4(std::string_view text, size_t i) {
  if (i + 4 > text.size()) return kBad;
  uint32_t value = 0;
  const auto read = std::from_chars(text.data() + i, text.data() + i + 4, value, 16);
  return read.ec == std::errc() && read.ptr == text.data() + i + 4 ? value : kBad;
}

/// The code point of "\u…" whose digits stand at `i`, a pair of surrogates taken as one; moves `i` behind it.
uint32_t unicode_escape(std::string_view text, size_t& i) {
  const uint32_t first = hex4(text, i);
  i += 4;
  if (!is_high_surrogate(first) || i + 1 >= text.size() || text[i] != '\\' || text[i + 1] != 'u') return first;
  const uint32_t second = hex4(text, i + 2);
  if (second == kBad || !is_low_surrogate(second)) return first;  // a bad escape is found when it is read itself
  i += 6;
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

char simple_escape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

/// The surrogate that three bytes at `i` stand for, or kBad.
uint32_t surrogate_at(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<uint32_t>(static_cast<unsigned char>(text[k])); };
  if (i + 3 > text.size() || byte(i) != 0xED || byte(i + 1) < 0xA0 || byte(i + 1) > 0xBF ||
      (byte(i + 2) & 0xC0) != 0x80) {
    return kBad;
  }
  return 0xD000 | (byte(i + 1) & 0x3F) << 6 | (byte(i + 2) & 0x3F);
}

void append_escape(std::string& out, uint32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[unit >> shift & 0xF]);
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (c < 0x20 || c == 0x7F) {
    append_escape(out, static_cast<unsigned char>(c));
  } else {
    out.push_back(c);
  }
}

}  // namespace

bool append_unescaped(std::string& out, std::string_view inside) {
  for (size_t i = 0; i < inside.size();) {
    if (inside[i] != '\\') {
      const size_t next = std::min(inside.find('\\', i), inside.size());
      out.append(inside, i, next - i);
      i = next;
      continue;
    }
    if (i + 1 == inside.size()) return false;
    const char letter = inside[i + 1];
    i += 2;
    if (letter == 'u') {
      const uint32_t point = unicode_escape(inside, i);
      if (point == kBad) return false;
      append_utf8(out, point);
    } else if (const char plain = simple_escape(letter); plain != '\0') {
      out.push_back(plain);
    } else {
      return false;
    }
  }
  return true;
}

void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (c.valid && c.length == 1) {
      append_ascii(out, text[i]);
    } else if (c.valid) {
      out.append(text, i, c.length);
    } else if (const uint32_t surrogate = surrogate_at(text, i); surrogate != kBad) {
      append_escape(out, surrogate);
      i += 2;
    } else {
      append_utf8(out, kReplacementCharacter);
    }
    i += c.length;
  }
  out.push_back('"');
}

}  // namespace goodput::event
