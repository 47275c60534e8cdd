// SPDX-License-Identifier: Apache-2.0
#include "base/web_text.h"

#include <array>
#include <cstdint>

namespace goodput {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

std::string form(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out.push_back('&');
    out += percent_encoded(name) + "=" + percent_encoded(value);
  }
  return out;
}

std::string base64(std::string_view bytes, Base64 alphabet) {
  std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (alphabet == Base64::kUrl) digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) {
      three = three << 8 | (k < count ? static_cast<unsigned char>(bytes[at + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      if (k <= count) {
        out.push_back(digits[three >> (6 * (3 - k)) & 63]);
      } else if (alphabet == Base64::kStandard) {
        out.push_back('=');
      }
    }
  }
  return out;
}

bool is_overheard(std::string_view url) {
  if (url.substr(0, 8) == "https://") return false;
  if (url.substr(0, 7) != "http://") return true;
  url.remove_prefix(7);
  const std::string_view authority = url.substr(0, url.find_first_of("/?#\\"));
  // "http://127.0.0.1@elsewhere/" goes elsewhere.
  if (authority.find('@') != std::string_view::npos) return true;
  const std::string_view host = authority.substr(
      0, !authority.empty() && authority.front() == '[' ? authority.find(']') + 1 : authority.find(':'));
  constexpr std::array<std::string_view, 3> kOwn = {"127.0.0.1", "localhost", "[::1]"};
  for (const std::string_view own : kOwn) {
    if (host == own) return false;
  }
  return true;
}

}  // namespace goodput
