// Integers of one to ten bytes, low seven bits first, and the zigzag form of signed ones.
//
//   put_varint(out, zigzag(-3));
//   std::span<const std::byte> in = …;  uint64_t raw;
//   if (!get_varint(in, raw)) …          // cut short or longer than ten bytes
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace goodput {

constexpr size_t kMaxVarintBytes = 10;

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t raw) { return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1); }

/// Appends to any container of bytes or chars.
template <typename Bytes>
void put_varint(Bytes& out, uint64_t value) {
  using Byte = typename Bytes::value_type;
  while (value >= 0x80) {
    out.push_back(static_cast<Byte>(static_cast<uint8_t>(value) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<Byte>(static_cast<uint8_t>(value)));
}

/// Takes one from the front of `in`. False, with `in` unspecified, when it is cut short or does not fit 64 bits.
inline bool get_varint(std::span<const std::byte>& in, uint64_t& value) {
  uint64_t result = 0;
  const size_t most = in.size() < kMaxVarintBytes ? in.size() : kMaxVarintBytes;
  for (size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<uint64_t>(in[i]);
    if (i == kMaxVarintBytes - 1 && byte > 1) return false;
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      value = result;
      in = in.subspan(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace goodput
