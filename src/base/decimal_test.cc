// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

namespace goodput {
namespace {

constexpr int64_t kMostNs = 4'000'000'000'000'000'000;
constexpr int64_t kMostStep = int64_t{1} << 53;

std::string shown(std::optional<int64_t> value) { return value ? std::to_string(*value) : "-"; }

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

TEST(Decimal, AgreesWithPythonsDecimalOnEveryCaseOfTheFixture) {
  std::ifstream in("tests/fixtures/numbers.tsv");
  int cases = 0;
  for (std::string line; std::getline(in, line); ++cases) {
    const std::vector<std::string> want = fields_of(line);
    ASSERT_EQ(want.size(), 4U) << line;
    const std::optional<Decimal> value = parse_json_number(want[0]);
    ASSERT_TRUE(value) << want[0];
    EXPECT_EQ(shown(to_nanoseconds(*value, kMostNs)), want[1]) << want[0];
    EXPECT_EQ(shown(to_integer(*value, kMostStep)), want[2]) << want[0];
    const double nearest = want[3] == "inf"    ? INFINITY
                           : want[3] == "-inf" ? -INFINITY
                                               : std::strtod(want[3].c_str(), nullptr);
    EXPECT_EQ(to_double(*value), nearest) << want[0];
  }
  EXPECT_EQ(cases, 1532);
}

TEST(Decimal, EqualValuesHaveEqualMembers) {
  const std::vector<std::vector<std::string>> groups = {
      {"0", "-0", "0.0", "0e99", "-0.000"},
      {"1", "1.0", "10e-1", "0.1e1", "1E0", "1.000000000000000000000000"},
      {"1700000000", "1700000000.0", "1.7e9", "17e8", "1700000000.000000000000000000"},
      {"-12.5", "-125e-1", "-12.50"},
      {"123456789012345678901234567890", "123456789012345678901234567890.0", "12345678901234567890123456789e1"},
  };
  for (const auto& group : groups) {
    const Decimal first = *parse_json_number(group[0]);
    for (const std::string& text : group) {
      const Decimal value = *parse_json_number(text);
      EXPECT_EQ(value.head, first.head) << text;
      EXPECT_EQ(value.digit_count, first.digit_count) << text;
      EXPECT_EQ(value.exponent, first.exponent) << text;
      EXPECT_EQ(value.negative, first.negative) << text;
    }
  }
}

TEST(Decimal, JsonGrammarIsKeptToTheLetter) {
  for (const char* text :
       {"",   "-",  "+1",  "01",       "-01",       "1.",  ".5",    "1e",  "1e+",   "1.e5", "0x1", "1_0",
        " 1", "1 ", "NaN", "Infinity", "-Infinity", "nan", "1e5.0", "--1", "1.2.3", "1,2",  "١"}) {
    EXPECT_FALSE(parse_json_number(text)) << text;
  }
  for (const char* text : {"0", "-0", "0.5", "-0.5", "1e5", "1E-5", "1.25e+5", "0e0"})
    EXPECT_TRUE(parse_json_number(text)) << text;
}

TEST(Decimal, PlainNumbersAreDigitsWithASignAndAPoint) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"5", "5"},
      {"+5", "5"},
      {"-5", "-5"},
      {"007", "7"},
      {"5.", "5"},
      {"5.0", "5"},
      {"5.000", "5"},
      {"5.5", "-"},
      {"0", "0"},
      {"-0.0", "0"},
      {"9007199254740992", "9007199254740992"},
      {"9007199254740993", "-"},
      {std::string(400, '9'), "-"},
      {std::string(400, '0') + "12", "12"},
      {"12." + std::string(400, '0'), "12"},
  };
  for (const auto& [text, want] : table) {
    const std::optional<Decimal> value = parse_plain_number(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(shown(to_integer(*value, kMostStep)), want) << text;
  }
  for (const char* text : {"", "+", "-", ".", ".5", "1e3", " 5", "5 ", "5.0.", "x", "0x10", "+-5", "5,0"}) {
    EXPECT_FALSE(parse_plain_number(text)) << text;
  }
}

TEST(Decimal, BoundsAreComparedBeforeRounding) {
  const auto ns = [](const char* text) { return shown(to_nanoseconds(*parse_json_number(text), kMostNs)); };
  EXPECT_EQ(ns("4000000000"), "4000000000000000000");
  EXPECT_EQ(ns("4000000000.00000000000000001"), "-");
  EXPECT_EQ(ns("3999999999.99999999999999999"), "4000000000000000000");
  EXPECT_EQ(ns("-0.00000000000000001"), "-");
  EXPECT_EQ(ns("-0.0"), "0");
}

TEST(Decimal, SecondsAreWrittenWithTheDecimalsTheyNeed) {
  const std::vector<std::pair<int64_t, std::string>> table = {
      {0, "0.0"},
      {1, "0.000000001"},
      {1'767'225'725'118'402'000, "1767225725.118402"},
      {3'000'000'000, "3.0"},
      {1'700'000'000'250'000'000, "1700000000.25"},
      {1'700'000'000'123'456'789, "1700000000.123456789"},
      {-1'500'000'000, "-1.5"},
      {INT64_MIN, "-9223372036.854775808"},
      {INT64_MAX, "9223372036.854775807"},
  };
  for (const auto& [ns, want] : table) {
    std::string text;
    append_seconds(text, ns);
    EXPECT_EQ(text, want);
    if (ns >= 0 && ns <= kMostNs) {
      EXPECT_EQ(to_nanoseconds(*parse_json_number(text), kMostNs), ns);
    }
  }
}

TEST(Decimal, NumbersOfAnyLengthAreReadTheSameByBothGrammars) {
  uint64_t state = 1;
  const auto random = [&](uint64_t below) {
    return ((state = state * 6364136223846793005 + 1442695040888963407) >> 33U) % below;
  };
  const auto digits = [&](uint64_t most) {
    std::string text;
    for (uint64_t i = random(most + 1); i > 0; --i) text += random(3) == 0 ? '0' : static_cast<char>('0' + random(10));
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = (random(4) == 0 ? "-" : "") + std::string(1, static_cast<char>('1' + random(9))) + digits(24);
    if (random(3) != 0) text += "." + digits(24) + static_cast<char>('0' + random(10));
    const Decimal json = parse_json_number(text).value();
    const std::string longer = text[0] == '-' ? "-0" + text.substr(1) : "0" + text;
    const Decimal plain = parse_plain_number(longer).value();
    ASSERT_EQ(json.head, plain.head) << text;
    ASSERT_EQ(json.digit_count, plain.digit_count) << text;
    ASSERT_EQ(json.exponent, plain.exponent) << text;
    ASSERT_EQ(json.negative, plain.negative) << text;
    ASSERT_EQ(json.written, plain.written) << text;
  }
}

TEST(Decimal, ANumberIsReadUpToWhatFollowsIt) {
  const auto rest = [](std::string_view text) {
    Decimal value;
    const char* const end = text.data() + text.size();
    const char* const at = read_json_number(text.data(), end, value);
    return at == nullptr ? std::string("none") : std::string(at, end);
  };
  EXPECT_EQ(rest("12,"), ",");
  EXPECT_EQ(rest("-1.50e+3}"), "}");
  EXPECT_EQ(rest("12345678901234567890x"), "x");
  EXPECT_EQ(rest("0123"), "none");
  EXPECT_EQ(rest("1.e5"), "none");
  EXPECT_EQ(rest("1e"), "none");
  EXPECT_EQ(rest("-"), "none");
  EXPECT_EQ(rest("x"), "none");
  EXPECT_EQ(rest(""), "none");
}

}  // namespace
}  // namespace goodput
