// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goodput::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointee;

TEST(Config, KeysTakeDashesAndUnderscores) {
  const Result<Config> config =
      parse_config("no_color = true\n[report]\ndead_after = '90s'\nwindow = ['1h', 3600]\n", "c.toml");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_THAT(config->find("no-color"), Pointee(ElementsAre("true")));
  EXPECT_THAT(config->find("report.dead-after"), Pointee(ElementsAre("90s")));
  EXPECT_THAT(config->find("report.window"), Pointee(ElementsAre("1h", "3600")));
  EXPECT_EQ(config->find("report.to"), nullptr);
}

TEST(Config, PricesAreByTypeWhateverItsCase) {
  const Result<Config> config = parse_config("[prices]\nH100 = 2.49\n\"TPU v5p\" = 4\n", "c.toml");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->price_of("h100"), 2.49);
  EXPECT_EQ(config->price_of("tpu V5P"), 4);
  EXPECT_FALSE(config->price_of("A100").has_value());
  EXPECT_TRUE(config->keys().empty());
}

TEST(Config, TimesAreTakenAsTheyStand) {
  const Result<Config> config = parse_config("[report]\nfrom = 2026-01-01T00:00:00Z\n", "c.toml");
  ASSERT_TRUE(config.ok());
  EXPECT_THAT(config->find("report.from"), Pointee(ElementsAre("2026-01-01T00:00:00Z")));
}

TEST(Config, MistakesNameTheFileAndThePlace) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {Case{"dir = [", "reading c.toml: line 1: "}, Case{"\n\nx y", "reading c.toml: line 3: "},
                        Case{"prices = 3", "reading c.toml: `prices` is not a table"},
                        Case{"[prices]\nH100 = 'dear'", "`prices.H100` is not a price"},
                        Case{"[prices]\nH100 = -1", "`prices.H100` is not a price"},
                        Case{"[a.b]\nc = 1", "`a.b` is not a text"}, Case{"x = [[1]]", "`x` is not a list"}}) {
    const Result<Config> config = parse_config(c.text, "c.toml");
    ASSERT_FALSE(config.ok()) << c.text;
    EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(config.status().message(), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace goodput::cli
