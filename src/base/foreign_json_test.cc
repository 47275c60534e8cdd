// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/excerpt.h"

namespace goodput {
namespace {

using nlohmann::json;

std::string nested(size_t depth, const std::string& open, const std::string& inside, const std::string& close) {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += open;
  text += inside;
  for (size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ForeignJson, DepthOfAnyKindIsBoundedAndTheRestIsKept) {
  constexpr size_t kDepth = 100'000;
  for (const std::string& deep :
       {nested(kDepth, "[", "7", "]"), nested(kDepth, R"({"a":)", "7", "}"), nested(kDepth, R"([{"a":[)", "", "]}]")}) {
    const json read = parse_foreign_json<json>(R"({"before":1,"deep":)" + deep + R"(,"after":[2]})");
    ASSERT_TRUE(read.is_object());
    EXPECT_EQ(read.at("before"), 1);
    EXPECT_EQ(read.at("after"), json::array({2}));
    const json copy = read;  // what recursion would not survive
    EXPECT_EQ(copy, read);
    EXPECT_LT(copy.dump().size(), 2'000U);
  }
}

TEST(ForeignJson, WhatNestsAsFarAsAllowedStaysWhole) {
  const std::string text = nested(kMostJsonDepth + 1, "[", "7", "]");
  EXPECT_EQ(parse_foreign_json<json>(text).dump(), text);
  EXPECT_EQ(parse_foreign_json<json>("[" + text + "]").dump(), nested(kMostJsonDepth + 1, "[", "null", "]"));
}

TEST(ForeignJson, WhatIsNoneIsDiscarded) {
  for (const char* text : {"", "{", "<html>", "[1,]"}) EXPECT_TRUE(parse_foreign_json<json>(text).is_discarded());
  EXPECT_TRUE(parse_foreign_json<json>(std::string(200'000, '[')).is_discarded());
  EXPECT_EQ(parse_foreign_json<json>("7"), 7);
}

TEST(Excerpt, IsOneLineOfUtf8AndNoLongerThanAsked) {
  EXPECT_EQ(excerpt("no\nsuch \x01 name\n", 100), "no such   name");
  EXPECT_EQ(excerpt("abcdef", 3), "abc");
  EXPECT_EQ(excerpt("ab\xE2\x82\xAC", 4), "ab");  // a code point is not cut
  EXPECT_EQ(excerpt("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
  EXPECT_EQ(excerpt("\xFFz", 5), "\xEF\xBF\xBDz");
  EXPECT_EQ(excerpt(" \n", 5), "");
}

}  // namespace
}  // namespace goodput
