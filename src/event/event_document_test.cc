// docs/formats/event.md, held against the code. Run in the root of the project, as ctest does.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "event/kind_names.h"
#include "event/payload.h"
#include "event/payload_writer.h"

namespace goodput::event {
namespace {

using ::testing::Contains;

class EventDocumentTest : public ::testing::Test {
 protected:
  EventDocumentTest() {
    std::ifstream file("docs/formats/event.md");
    std::stringstream content;
    content << file.rdbuf();
    text_ = content.str();
  }

  /// What stands between the fences of the block of examples, by lines.
  std::vector<std::string> examples() const {
    const std::string fence = "```jsonl\n";
    const size_t begin = text_.find(fence) + fence.size();
    std::stringstream block(text_.substr(begin, text_.find("```", begin) - begin));
    std::vector<std::string> lines;
    for (std::string line; std::getline(block, line);) lines.push_back(line);
    return lines;
  }

  /// Everything in backticks from one heading to the next.
  std::set<std::string> words_in(const std::string& heading) const {
    const size_t begin = text_.find("\n## " + heading + "\n");
    EXPECT_NE(begin, std::string::npos) << heading;
    const std::string section = text_.substr(begin, text_.find("\n## ", begin + 1) - begin);
    const std::regex code("`([^`]+)`");
    std::set<std::string> words;
    for (std::sregex_iterator match(section.begin(), section.end(), code), end; match != end; ++match) {
      words.insert((*match)[1]);
    }
    return words;
  }

  std::string text_;
};

TEST_F(EventDocumentTest, EveryExampleIsWrittenAgainAsItStands) {
  PayloadReader reader;
  ASSERT_FALSE(examples().empty());
  for (const std::string& example : examples()) {
    const Payload& payload = reader.read(example);
    ASSERT_EQ(payload.verdict, Verdict::kEvent) << example;
    std::string written;
    PayloadWriter("llama-7b", {.with_position = payload.has_position}).append(written, payload.event);
    EXPECT_EQ(written, example);
  }
}

TEST_F(EventDocumentTest, EveryKindHasAnExampleAndIsDescribed) {
  std::set<std::string_view> shown;
  PayloadReader reader;
  for (const std::string& example : examples()) shown.insert(name_of(reader.read(example).event.kind));
  const std::set<std::string> described = words_in("Kinds");
  for (size_t kind = 1; kind < kKinds; ++kind) {
    EXPECT_THAT(shown, Contains(kKindNames[kind]));
    EXPECT_THAT(described, Contains(std::string(kKindNames[kind])));
  }
}

TEST_F(EventDocumentTest, EveryKeyIsDescribed) {
  std::set<std::string> described = words_in("Kinds");
  described.merge(words_in("In any entry"));
  for (size_t key = 0; key < kPayloadKeys; ++key) EXPECT_THAT(described, Contains(std::string(kKeyNames[key])));
}

}  // namespace
}  // namespace goodput::event
