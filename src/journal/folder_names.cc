// SPDX-License-Identifier: Apache-2.0
#include "journal/folder_names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "journal/live_header.h"

namespace goodput::journal {
namespace {

constexpr size_t kNumberDigits = 8;
constexpr std::string_view kLiveSuffix = ".live";
constexpr std::string_view kSealedSuffix = ".sealed";

std::string numbered(uint32_t number) {
  const std::string digits = std::to_string(number);
  return digits.size() < kNumberDigits ? std::string(kNumberDigits - digits.size(), '0') + digits : digits;
}

}  // namespace

std::string hash_name(std::string_view text) {
  const std::string_view cut = cut_text(text, kMaxJobBytes);
  const XXH128_hash_t hash = XXH3_128bits(cut.data(), cut.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::array<uint8_t, 16> bytes;
  static_assert(sizeof(canonical.digest) == sizeof(bytes));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = canonical.digest[i];
  return id_name(bytes);
}

std::string id_name(const std::array<uint8_t, 16>& journal_id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const uint8_t byte : journal_id) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

std::optional<std::array<uint8_t, 16>> parse_id_name(std::string_view name) {
  std::array<uint8_t, 16> id{};
  if (name.size() != 2 * id.size()) return std::nullopt;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
    id[i / 2] = static_cast<uint8_t>(id[i / 2] << 4 | (digit ? c - '0' : c - 'a' + 10));
  }
  return id;
}

std::string segment_name(uint32_t number, SegmentForm form) {
  return numbered(number).append(form == SegmentForm::kLive ? kLiveSuffix : kSealedSuffix);
}

std::string sealing_name(uint32_t number) { return numbered(number) + ".sealing"; }

std::optional<SegmentFileName> parse_segment_name(std::string_view name) {
  if (name.size() <= kNumberDigits) return std::nullopt;
  SegmentFileName parsed;
  const std::string_view suffix = name.substr(kNumberDigits);
  if (suffix == kSealedSuffix) {
    parsed.form = SegmentForm::kSealed;
  } else if (suffix != kLiveSuffix) {
    return std::nullopt;
  }
  for (const char c : name.substr(0, kNumberDigits)) {
    if (c < '0' || c > '9') return std::nullopt;
    parsed.number = parsed.number * 10 + static_cast<uint32_t>(c - '0');
  }
  if (parsed.number == 0) return std::nullopt;
  return parsed;
}

}  // namespace goodput::journal
