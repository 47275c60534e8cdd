// SPDX-License-Identifier: Apache-2.0
#include "base/byte_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace goodput {
namespace {

TEST(ByteSearch, FindsWhatALoopFinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 40, 'x');
    for (char& c : text) {
      if (random() % 8 == 0) c = static_cast<char>(random());
      if (random() % 20 == 0) c = "\"\\{}\n"[random() % 5];
    }
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto is_wanted = [](char c) { return c == '"' || c == '{' || c == '\n'; };
    ASSERT_EQ((find_first_of<'"', '{', '\n'>(begin, end)), std::find_if(begin, end, is_wanted)) << text;
    const auto ends_text = [](char c) {
      return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || (c & 0x80) != 0;
    };
    const std::string padded = text + std::string(8, '\0');
    ASSERT_EQ(end_of_plain_text(padded.data()) - padded.data(), std::find_if(begin, end, ends_text) - begin) << text;
  }
}

TEST(ByteSearch, EveryByteIsToldFromTheWantedOne) {
  for (int other = 0; other < 256; ++other) {
    for (size_t at = 0; at < 20; ++at) {
      std::string text(20, static_cast<char>(other));
      ASSERT_EQ(find_first_of<'w'>(text.data(), text.data() + text.size()), text.data() + (other == 'w' ? 0 : 20));
      text[at] = 'w';
      const size_t want = other == 'w' ? 0 : at;
      ASSERT_EQ(find_first_of<'w'>(text.data(), text.data() + text.size()), text.data() + want);
    }
  }
}

}  // namespace
}  // namespace goodput
