// SPDX-License-Identifier: Apache-2.0
#include "event/json_text.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/utf8.h"

namespace goodput::event {
namespace {

std::string unescaped(std::string_view inside) {
  std::string out;
  return append_unescaped(out, inside) ? out : "refused";
}

std::string in_quotes(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

TEST(Unescape, TakesEveryEscapeOfJson) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"plain", "plain"},
      {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"},
      {R"(\u0041\u00e9\u20AC)", "Aé€"},
      {R"(\ud83d\ude00!)", "😀!"},
      {R"(a\u0000b)", std::string("a\0b", 3)},
      {R"(\ud83d)", "\xed\xa0\xbd"},  // a lone surrogate
      {R"(\ud83d\u0041)",
       "\xed\xa0\xbd"
       "A"},
      {R"(\ude00\ud83d)", "\xed\xb8\x80\xed\xa0\xbd"},
      {R"(\ud83d\ud83d\ude00)", "\xed\xa0\xbd😀"},
      {R"(\x41)", "refused"},
      {R"(\)", "refused"},
      {R"(\u12)", "refused"},
      {R"(\u12g4)", "refused"},
      {R"(\ud83d\u12)", "refused"},
      {R"(\u-123)", "refused"},
      {R"(\U0041)", "refused"},
  };
  for (const auto& [inside, want] : table) EXPECT_EQ(unescaped(inside), want) << inside;
}

TEST(Quote, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(in_quotes("a\"b\\c\n\r\t/é"), R"("a\"b\\c\n\r\t/é")");
  EXPECT_EQ(in_quotes(std::string("\0\x01\x1f\x7f", 4)), R"("\u0000\u0001\u001f\u007f")");
  EXPECT_EQ(in_quotes("\xff z \xc3"), "\"\uFFFD z \uFFFD\"");
  EXPECT_EQ(in_quotes("\xed\xa0\xbd"), R"("\ud83d")");
  EXPECT_EQ(in_quotes(""), R"("")");
}

TEST(Quote, IsReadBackUnchanged) {
  for (const char* text :
       {"", "plain", "\"\\\b\f\n\r\t\x01\x7f", "Größe 😀", "\xed\xa0\xbd", "../../etc", "</script>"}) {
    const std::string json = in_quotes(text);
    EXPECT_EQ(unescaped(std::string_view(json).substr(1, json.size() - 2)), text);
  }
}

TEST(Repair, ReplacesEachByteThatIsNoUtf8) {
  std::string out;
  append_repaired(out, "a\xff\xc3(é\xe2\x82");
  EXPECT_EQ(out, "a\uFFFD\uFFFD(é\uFFFD\uFFFD");
}

}  // namespace
}  // namespace goodput::event
