// SPDX-License-Identifier: Apache-2.0
#include "base/checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace goodput {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// RFC 3720, appendix B.4, and the check value of every CRC catalogue.
TEST(Checksum, KnownValues) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43u);
}

TEST(Checksum, GoesOnWhereAnEarlierPieceEnded) {
  const auto whole = bytes_of("a journal of what a training run did with its time");
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    EXPECT_EQ(crc32c(whole.subspan(cut), crc32c(whole.first(cut))), crc32c(whole)) << cut;
  }
}

TEST(Checksum, AFieldWithinIsReadAsZero) {
  EXPECT_EQ(crc32c_around(bytes_of("stepXXXXsof 9"), 4), crc32c(bytes_of(std::string_view("step\0\0\0\0sof 9", 13))));
}

TEST(Checksum, InstructionAndTableAgree) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000; ++i) {
    const auto crc = static_cast<uint32_t>(random());
    const uint64_t word = random();
    EXPECT_EQ(crc32c_word(crc, word), crc32c_by_table::word(crc, word));
    EXPECT_EQ(crc32c_byte(crc, static_cast<uint8_t>(word)), crc32c_by_table::byte(crc, static_cast<uint8_t>(word)));
    uint32_t by_bytes = crc;
    for (int k = 0; k < 8; ++k) by_bytes = crc32c_by_table::byte(by_bytes, static_cast<uint8_t>(word >> (8 * k)));
    EXPECT_EQ(crc32c_by_table::word(crc, word), by_bytes);
  }
}

}  // namespace
}  // namespace goodput
