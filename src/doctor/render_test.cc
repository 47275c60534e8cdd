// SPDX-License-Identifier: Apache-2.0
#include "doctor/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "report/terminal/text.h"

namespace goodput::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Line> kLines = {
    {"lead", "lead process", {.seen = "Process 0 recorded on evil\x1b[2J; the job is running."}},
    {"steps", "steps", {Verdict::kRed, "No step was recorded in 1h: nothing counts as progress.", "Call rec.step(i)."}},
    {"disk", "disk", {Verdict::kYellow, std::string(200, 'x'), "Make room."}},
};

TEST(DoctorPage, EachLineSaysItsVerdictWithoutColour) {
  EXPECT_THAT(render_lines(kLines, "llama-7b", {.columns = 80, .unicode = false}),
              HasSubstr("  X red     steps            No step was recorded in 1h: nothing counts as\n"
                        "                             progress.\n"
                        "                             -> Call rec.step(i).\n"));
}

TEST(DoctorPage, EndsWithASummary) {
  EXPECT_THAT(render_lines(kLines, "llama-7b", {}), HasSubstr("\n  1 red, 1 yellow, 1 green\n"));
  EXPECT_THAT(render_lines(kLines, "llama-7b", {}), Not(HasSubstr("--job")));
  EXPECT_THAT(render_lines(kLines, "", {}), HasSubstr("goodput doctor --job NAME"));
}

TEST(DoctorPage, FitsItsColumnsAndEscapesNames) {
  for (const int columns : {60, 80, 120}) {
    const std::string page = render_lines(kLines, "llama-7b", {.columns = columns, .unicode = true});
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(report::columns_of(line), columns) << line;
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  }
}

TEST(DoctorPage, ColoursFollowTheVerdict) {
  const std::string page = render_lines(kLines, "llama-7b", {.colors = report::ColorDepth::k16});
  EXPECT_THAT(page, HasSubstr("\x1b[31m✗"));
}

TEST(DoctorJson, HoldsEveryLine) {
  const nlohmann::json object = nlohmann::json::parse(lines_to_json(kLines, "llama-7b", report::JsonForm::kOneLine));
  EXPECT_EQ(object.at("schema"), "goodput.doctor/1");
  EXPECT_EQ(object.at("job"), "llama-7b");
  EXPECT_EQ(object.at("verdict"), "red");
  ASSERT_EQ(object.at("checks").size(), 3U);
  EXPECT_EQ(object.at("checks").at(1),
            nlohmann::json({{"check", "steps"},
                            {"verdict", "red"},
                            {"seen", "No step was recorded in 1h: nothing counts as progress."},
                            {"fix", "Call rec.step(i)."}}));
  EXPECT_TRUE(nlohmann::json::parse(lines_to_json({}, "", report::JsonForm::kIndented)).at("job").is_null());
}

}  // namespace
}  // namespace goodput::doctor
