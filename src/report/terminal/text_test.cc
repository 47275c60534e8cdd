// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goodput::report {
namespace {

using ::testing::ElementsAre;

TEST(Printable, WhatCouldMoveACursorOrTurnTextIsEscaped) {
  struct Case {
    std::string raw, expected;
  };
  for (const Case& c : {
           Case{"plain name-1", "plain name-1"}, Case{"\x1b[2J", "\\x1b[2J"},
           Case{"a\nb\tc\r\x7f", "a\\x0ab\\x09c\\x0d\\x7f"}, Case{std::string("nul\0", 4), "nul\\x00"},
           Case{"\xc2\x9b"
                "31m",
                "\\u009b31m"},  // the one-character form of ESC [
           Case{"\xe2\x80\xae"
                "abc",
                "\\u202eabc"},  // right-to-left override
           Case{"a\xe2\x80\x8b"
                "b",
                "a\\u200bb"},                     // no width
           Case{"\xe2\x80\xa8", "\\u2028"},       // line separator
           Case{"\xf3\xa0\x81\x81", "\\ue0041"},  // tag characters
           Case{"\xff\xfe", "\\xff\\xfe"},        // not UTF-8
           Case{"\xc0\xaf", "\\xc0\\xaf"},        // overlong
           Case{"\xe8\xa9\x95", "\xe8\xa9\x95"},  // 評
           Case{"e\xcc\x81", "e\xcc\x81"},        // a combining accent
       }) {
    EXPECT_EQ(printable(c.raw, true), c.expected);
  }
}

TEST(Printable, WithoutUnicodeEverythingIsAscii) {
  EXPECT_EQ(printable("caf\xc3\xa9 \xe8\xa9\x95", false), "caf\\u00e9 \\u8a55");
}

TEST(Columns, WideCharactersTakeTwoAndMarksNone) {
  EXPECT_EQ(columns_of("abc"), 3);
  EXPECT_EQ(columns_of("評価"), 4);
  EXPECT_EQ(columns_of("e\xcc\x81"), 1);
  EXPECT_EQ(columns_of("🚀"), 2);
  EXPECT_EQ(columns_of("█▌…"), 3);
  EXPECT_EQ(columns_of(""), 0);
}

TEST(Shorten, KeepsBothEndsWithinTheColumns) {
  EXPECT_EQ(shorten("short", 5, true), "short");
  EXPECT_EQ(shorten("a-very-long-run-name-0042", 12, true), "a-very-l…042");
  EXPECT_EQ(shorten("a-very-long-run-name-0042", 12, false), "a-very-..042");
  EXPECT_EQ(shorten("abcdef", 1, true), "a");
  EXPECT_EQ(shorten("abcdef", 0, true), "");
}

TEST(Shorten, NeverCutsACharacterNorTakesMoreColumns) {
  const std::string text = "評価e\xcc\x81🚀評価のジョブe\xcc\x81評";
  for (int columns = 0; columns < 30; ++columns) {
    const std::string cut = shorten(text, columns, true);
    EXPECT_LE(columns_of(cut), columns);
    EXPECT_EQ(printable(cut, true), cut) << "broken UTF-8 at " << columns;
  }
}

TEST(Wrap, BreaksAtSpacesAndWithinWordsThatAreTooLong) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 100), ElementsAre("one two three"));
  EXPECT_THAT(wrap("abcdefghij kl", 4), ElementsAre("abcd", "efgh", "ij", "kl"));
  EXPECT_THAT(wrap("", 10), ElementsAre(""));
  EXPECT_THAT(wrap("評価評価", 3), ElementsAre("評", "価", "評", "価"));
}

}  // namespace
}  // namespace goodput::report
