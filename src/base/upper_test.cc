// SPDX-License-Identifier: Apache-2.0
#include "base/upper.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/utf8.h"

namespace goodput {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(Upper, AgreesWithPythonOnEveryNameOfTheFixture) {
  std::ifstream in("tests/fixtures/upper.tsv");
  int cases = 0;
  for (std::string line; std::getline(in, line); ++cases) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos);
    EXPECT_EQ(upper(from_hex(line.substr(0, tab))), from_hex(line.substr(tab + 1))) << line;
  }
  EXPECT_EQ(cases, 620);
}

TEST(Upper, OneLetterMayBecomeSeveral) {
  EXPECT_EQ(upper("straße"), "STRASSE");
  EXPECT_EQ(upper("ﬃ"), "FFI");
  EXPECT_EQ(upper("\u0390"), "\u0399\u0308\u0301");
}

TEST(Upper, TurkishAndTitleCaseFollowTheTableNotALocale) {
  EXPECT_EQ(upper("ıiİ"), "IIİ");
  EXPECT_EQ(upper("ǆǅǄ"), "ǄǄǄ");
}

TEST(Upper, BytesThatAreNoUtf8AreKept) {
  EXPECT_EQ(upper("a\xff\xc3"), "A\xff\xc3");
  EXPECT_EQ(upper("\xed\xa0\x80z"), "\xed\xa0\x80Z");  // a surrogate
  EXPECT_EQ(upper("\xc0\xe1x"), "\xc0\xe1X");          // an overlong lead and a cut sequence
  EXPECT_EQ(upper(""), "");
}

TEST(Utf8, DecodesWhatItWrites) {
  for (const uint32_t point : {0x0U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xD7FFU, 0xE000U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    append_utf8(text, point);
    const CodePoint c = decode_utf8(text, 0);
    EXPECT_TRUE(c.valid) << point;
    EXPECT_EQ(c.value, point);
    EXPECT_EQ(c.length, text.size());
  }
}

TEST(Utf8, RefusesOverlongSurrogateAndTooLarge) {
  for (const char* text :
       {"\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\x80", "\xe2\x82", "\xe2\x28\xa1"}) {
    const CodePoint c = decode_utf8(text, 0);
    EXPECT_FALSE(c.valid) << text;
    EXPECT_EQ(c.length, 1U) << text;
  }
}

}  // namespace
}  // namespace goodput
