// `goodput simulate` as it is typed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/testing/recorded_job.h"

namespace goodput::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::Outcome;

class SimulateCommand : public testing::RecordedJob {
 protected:
  json figures(const std::string& text) {
    json report = json::parse(text, nullptr, false);
    for (const char* key : {"labels", "ranks", "first_stopped_rank"}) report.erase(key);
    return report;
  }
};

TEST_F(SimulateCommand, JournalsAndLinesAreOneJob) {
  struct Case {
    const char *seed, *ranks, *mtbf;
  };
  for (const Case& c : {Case{"1", "1", "10m"}, Case{"2", "3", "5m"}, Case{"3", "1", "0"}}) {
    const std::string job = std::string("simulated ") + c.seed;
    const std::vector<std::string> what = {"simulate", "--job",  job,    "--seed",  c.seed, "--ranks",
                                           c.ranks,    "--mtbf", c.mtbf, "--steps", "1500"};
    std::vector<std::string> lines = what, journals = what;
    const std::string file = folder_.path() + "/lines";
    lines.insert(lines.end(), {"--output", file});
    journals.emplace_back("--journals");
    EXPECT_EQ(run(lines).code, kDone);
    EXPECT_THAT(run(journals).out, HasSubstr(job + ": "));
    const json of_lines = figures(report({"--input", file, "--job", job}, 400'000));
    const json of_journals = figures(report({job}, 400'000));
    EXPECT_EQ(of_lines.at("status"), "completed");
    EXPECT_EQ(json::diff(of_lines, of_journals), json::array()) << job;
    EXPECT_EQ(run(journals).code, kCannot) << "they are there already";
  }
  EXPECT_EQ(json::parse(run({"jobs", "--json"}).out, nullptr, false).at("jobs").size(), 3U);
}

TEST_F(SimulateCommand, ASeedGivesTheSameEventsAgainAndAnotherOneOthers) {
  const std::string first = run({"simulate", "--seed", "7", "--steps", "300"}).out;
  EXPECT_GT(first.size(), 10'000U);
  EXPECT_EQ(run({"simulate", "--seed", "7", "--steps", "300"}).out, first);
  EXPECT_NE(run({"simulate", "--seed", "8", "--steps", "300"}).out, first);
}

TEST_F(SimulateCommand, WordsThatMakeNoSenseAreSaid) {
  EXPECT_EQ(run({"simulate", "--step-time", "soon"}).code, kUsage);
  EXPECT_EQ(run({"simulate", "--step-time", "0"}).code, kUsage);
  EXPECT_EQ(run({"simulate", "--mtbf", "often"}).code, kUsage);
  EXPECT_EQ(run({"simulate", "--ranks", "0"}).code, kUsage);
  EXPECT_EQ(run({"simulate", "--journals", "--output", "x"}).code, kUsage);
  EXPECT_EQ(run({"simulate", "--output", "/no/such/folder/x"}).code, kCannot);
}

}  // namespace
}  // namespace goodput::cli
