// SPDX-License-Identifier: Apache-2.0
#include "journal/folder_names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "journal/live_header.h"

namespace goodput::journal {

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

}  // namespace goodput::journal
