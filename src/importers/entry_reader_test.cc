// SPDX-License-Identifier: Apache-2.0
#include "importers/entry_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "importers/temporary_file_for_test.h"

namespace goodput::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "line: text" of every entry.
std::vector<std::string> entries_of(std::string_view content, size_t max_entry_bytes = kMaxEntryBytes) {
  const TemporaryFile file(content);
  Result<InputFile> input = InputFile::open(file.path());
  EXPECT_TRUE(input.ok());
  EntryReader reader(*input, max_entry_bytes);
  std::vector<std::string> entries;
  for (Entry entry;;) {
    const Result<bool> more = reader.next(entry);
    if (!more.ok()) return {"failed: " + more.status().message()};
    if (!*more) break;
    entries.push_back(std::to_string(entry.line) + ": " + (entry.too_long ? "TOO LONG" : std::string(entry.text)));
  }
  if (reader.ended_inside_array()) entries.push_back("inside an array");
  return entries;
}

TEST(EntryReader, LinesAreEntriesAndBlankOnesAreNot) {
  EXPECT_THAT(entries_of("{\"a\":1}\n\n  \r\n{\"b\":2}\r\n garbage \n{\"torn\":"),
              ElementsAre("1: {\"a\":1}", "4: {\"b\":2}", "5: garbage", "6: {\"torn\":"));
  EXPECT_THAT(entries_of(""), IsEmpty());
  EXPECT_THAT(entries_of("\n\n \t\r\n"), IsEmpty());
}

TEST(EntryReader, ElementsOfAnArrayAreEntriesHoweverPrinted) {
  EXPECT_THAT(entries_of("[\n  {\n    \"a\": {\"x\": \"}]\\\"{\"}\n  },\n  {\n    \"b\": []\n  }\n]\n"),
              ElementsAre("2: {\n    \"a\": {\"x\": \"}]\\\"{\"}\n  }", "5: {\n    \"b\": []\n  }"));
  EXPECT_THAT(entries_of("[{\"a\":1},{\"b\":{}}]"), ElementsAre("1: {\"a\":1}", "1: {\"b\":{}}"));
  EXPECT_THAT(entries_of("[{\n\"a\":[\n{\n}\n]\n}, {\n\"b\":1\n}]"),
              ElementsAre("1: {\n\"a\":[\n{\n}\n]\n}", "6: {\n\"b\":1\n}"));
  EXPECT_THAT(entries_of("[]\n"), IsEmpty());
  EXPECT_THAT(entries_of("[\n]\n[{\"a\":1}]\n{\"b\":2}\n"), ElementsAre("3: {\"a\":1}", "4: {\"b\":2}"));
}

TEST(EntryReader, ObjectsPrintedOverSeveralLinesOneAfterAnother) {
  EXPECT_THAT(entries_of("{\n  \"a\": {\n    \"b\": 1\n  }\n}\n{\n  \"c\": 2\n}\n"),
              ElementsAre("1: {\n  \"a\": {\n    \"b\": 1\n  }\n}", "6: {\n  \"c\": 2\n}"));
  EXPECT_THAT(entries_of("{\n{\"a\":1}\n{\"b\":2}\n"), ElementsAre("1: {", "2: {\"a\":1}", "3: {\"b\":2}"));
}

TEST(EntryReader, LogLinesThatOpenABracketAreNoArrays) {
  EXPECT_THAT(
      entries_of("[INFO] starting [\n{\"a\":1}\n[2026-01-01 00:00:00] step\n{\"b\":2}\n["),
      ElementsAre("1: [INFO] starting [", "2: {\"a\":1}", "3: [2026-01-01 00:00:00] step", "4: {\"b\":2}", "5: ["));
  EXPECT_THAT(entries_of("[{'loss': 1}\n{\"a\":1}\n{\"b\":2}\n"),
              ElementsAre("1: {'loss': 1}", "2: {\"a\":1}", "3: {\"b\":2}", "inside an array"));
}

TEST(EntryReader, ADamagedElementCostsItself) {
  const std::string good = "[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": \"2\"\n  },\n  {\n    \"c\": 3\n  }\n]\n";
  struct Row {
    const char* what;
    size_t at;
    char now;
  };
  const std::vector<Row> table = {
      {"opening bracket of b", good.find("{\n    \"b"), 'x'},
      {"closing bracket of b", good.find("},\n  {\n    \"c"), 'x'},
      {"first quote of 2", good.find("\"2"), 'x'},
      {"last quote of 2", good.find("\"\n"), 'x'},
      {"another bracket", good.find("2"), '{'},
      {"another closing bracket", good.find(": \"2") + 1, '}'},
      {"line break in b", good.find("\n    \"b"), 'x'},
  };
  for (const Row& row : table) {
    std::string content = good;
    content[row.at] = row.now;
    const std::vector<std::string> entries = entries_of(content);
    EXPECT_THAT(entries, ::testing::Contains(::testing::EndsWith(": {\n    \"a\": 1\n  }"))) << row.what;
    EXPECT_THAT(entries, ::testing::Contains(::testing::EndsWith(": {\n    \"c\": 3\n  }"))) << row.what;
  }
}

TEST(EntryReader, AnArrayClosedTooEarlyCostsNothingBehindIt) {
  const std::string content =
      "[\n  {\n    \"a\": {}}\n    , \"l\": [1]\n  },\n  {\n    \"b\": 2\n  },\n  {\n    \"c\": 3\n  }\n]\n";
  const std::vector<std::string> entries = entries_of(content);
  EXPECT_THAT(entries, ::testing::Contains("6: {\n    \"b\": 2\n  }"));
  EXPECT_THAT(entries, ::testing::Contains("9: {\n    \"c\": 3\n  }"));
}

TEST(EntryReader, ACutArrayIsToldAndItsLastElementGivenAsItIs) {
  EXPECT_THAT(entries_of("[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": "),
              ElementsAre("2: {\n    \"a\": 1\n  }", "5: {\n    \"b\":", "inside an array"));
  EXPECT_THAT(entries_of("[{\"a\":1},"), ElementsAre("1: {\"a\":1}", "inside an array"));
}

TEST(EntryReader, LongEntriesAreSkippedAndTheNextOnesKept) {
  const std::string fill(300, 'x');
  EXPECT_THAT(entries_of("{\"a\":1}\n{\"" + fill + "\":2}\n{\"b\":2}\n", 100),
              ElementsAre("1: {\"a\":1}", "2: TOO LONG", "3: {\"b\":2}"));
  EXPECT_THAT(entries_of("[\n {\"a\":1},\n {\"x\":\n\"" + fill + "\"},\n {\"b\":2}\n]", 100),
              ElementsAre("2: {\"a\":1}", "3: TOO LONG", "5: {\"b\":2}"));
}

TEST(EntryReader, EntriesLongerThanTheBufferAreReadWhole) {
  const std::string fill(3 << 20, 'x');  // three buffers
  EXPECT_THAT(entries_of("{\"a\":1}\n{\"" + fill + "\":2}\n{\"b\":2}\n"),
              ElementsAre("1: {\"a\":1}", "2: {\"" + fill + "\":2}", "3: {\"b\":2}"));
  EXPECT_THAT(entries_of("[{\"" + fill + "\":2},{\"b\":2}]", 1 << 20), ElementsAre("1: TOO LONG", "1: {\"b\":2}"));
  EXPECT_THAT(entries_of("{\"" + fill + "\":2}\n{\"b\":2}", 1 << 20), ElementsAre("1: TOO LONG", "2: {\"b\":2}"));
  EXPECT_THAT(entries_of("{\"" + fill + "\":2}", 1 << 20), ElementsAre("1: TOO LONG"));
}

TEST(EntryReader, AByteOrderMarkIsPassedOverAndUtf16Refused) {
  EXPECT_THAT(entries_of("\xef\xbb\xbf[{\"a\":1}]"), ElementsAre("1: {\"a\":1}"));
  EXPECT_THAT(entries_of(std::string("\xff\xfe{\0", 4)),
              ElementsAre(::testing::HasSubstr("it is UTF-16 text, save it as UTF-8")));
}

TEST(EntryReader, EveryCutOfAPrettyArrayEndsWithoutALoop) {
  const std::string good = "[\n  {\n    \"a\": \"\\\"x\"\n  },\n  {\n    \"b\": {}\n  }\n]\n";
  for (size_t cut = 0; cut <= good.size(); ++cut) EXPECT_LE(entries_of(good.substr(0, cut)).size(), 3U) << cut;
}

}  // namespace
}  // namespace goodput::importers
