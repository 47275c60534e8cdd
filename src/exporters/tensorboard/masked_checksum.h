// The checksum of TensorBoard's record format. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/checksum.h"

namespace goodput::exporters {

/// CRC32C, rotated and moved, so that a checksum of bytes that hold checksums is no weaker.
inline uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  constexpr uint32_t kMaskDelta = 0xa282ead8;
  const uint32_t sum = crc32c(bytes);
  return ((sum >> 15) | (sum << 17)) + kMaskDelta;
}

}  // namespace goodput::exporters
