// SPDX-License-Identifier: Apache-2.0
#include "base/web_text.h"

#include <gtest/gtest.h>

namespace goodput {
namespace {

TEST(WebText, PercentEncodingLeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a/b c+\xC3\xA9\n"), "a%2Fb%20c%2B%C3%A9%0A");
  EXPECT_EQ(percent_encoded(std::string_view("\0\xFF", 2)), "%00%FF");
}

TEST(WebText, FormJoinsEncodedFields) {
  EXPECT_EQ(form({{"grant_type", "urn:x"}, {"a&b", "1=2"}}), "grant_type=urn%3Ax&a%26b=1%3D2");
  EXPECT_EQ(form({}), "");
}

TEST(WebText, Base64OfEveryLengthOfRest) {
  // RFC 4648, section 10.
  EXPECT_EQ(base64("", Base64::kStandard), "");
  EXPECT_EQ(base64("f", Base64::kStandard), "Zg==");
  EXPECT_EQ(base64("fo", Base64::kStandard), "Zm8=");
  EXPECT_EQ(base64("foo", Base64::kStandard), "Zm9v");
  EXPECT_EQ(base64("foobar", Base64::kStandard), "Zm9vYmFy");
  EXPECT_EQ(base64("f", Base64::kUrl), "Zg");
  EXPECT_EQ(base64("\xFB\xFF\xBF", Base64::kStandard), "+/+/");
  EXPECT_EQ(base64("\xFB\xFF\xBF", Base64::kUrl), "-_-_");
}

TEST(WebText, OnlyHttpsAndThisMachineAreNotOverheard) {
  for (const char* url : {"https://example.com/a", "http://127.0.0.1:8080/a", "http://localhost", "http://[::1]:80/"}) {
    EXPECT_FALSE(is_overheard(url)) << url;
  }
  for (const char* url : {"http://example.com", "http://127.0.0.1.example.com/", "http://127.0.0.1@example.com/",
                          "http://localhost:1@example.com/", "ftp://127.0.0.1/", "http://", "", "http://[::2]/"}) {
    EXPECT_TRUE(is_overheard(url)) << url;
  }
}

}  // namespace
}  // namespace goodput
