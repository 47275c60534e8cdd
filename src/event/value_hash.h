// Hashes of JSON values, for telling deliveries of one payload from two payloads.
//
// Equal values hash alike, numbers by value and fields in any order; 1, "1", [1] and true differ.
//
//   uint64_t sum = kObjectSeed;
//   sum += hash_field(hash_text("step_count", kKeySeed), hash_number(decimal));   // of every field once
//   const uint64_t object = scramble(sum);
//
// Fingerprints are stored with what was settled of a log: never change them. Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"

namespace goodput::event {

/// What the hash of a value of each type begins with.
enum HashSeed : uint64_t {
  kNullSeed = 1,
  kFalseSeed,
  kTrueSeed,
  kNumberSeed,
  kNotFiniteSeed,
  kStringSeed,
  kArraySeed,
  kObjectSeed,
  kKeySeed
};

/// Every bit of the result depends on every bit of the argument; no two arguments have one result (the finaliser of
/// MurmurHash3).
constexpr uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53;
  return x ^ (x >> 33);
}

/// Of an ordered pair: the two halves of a product (the step of wyhash, and of XXH3 for short texts).
constexpr uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9E3779B97F4A7C15) * (b ^ 0xC4CEB9FE1A85EC53);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_text(std::string_view text, HashSeed seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

inline uint64_t hash_number(const Decimal& number) {
  uint64_t digits = number.head;
  if (number.digit_count > kHeadDigits) [[unlikely]] {
    std::string all(number.written);
    std::erase(all, '.');
    digits = hash_text(all, kNumberSeed);
  }
  const auto exponent = static_cast<uint64_t>(number.exponent) << 1 | (number.negative ? 1U : 0U);
  return mix(digits, std::rotl(exponent, 32) + static_cast<uint64_t>(number.digit_count) + kNumberSeed);
}

/// To be added up: the sum is the same in any order.
constexpr uint64_t hash_field(uint64_t key_hash, uint64_t value_hash) { return mix(key_hash, value_hash); }

}  // namespace goodput::event
