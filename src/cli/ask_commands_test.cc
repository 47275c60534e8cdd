// `goodput jobs`, `attempts`, `disruptions` and `ranks` as they are typed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <goodput/recorder.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/testing/recorded_job.h"

namespace goodput::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Outcome;

class AskCommands : public testing::RecordedJob {
 protected:
  json answer(const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, kDone) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }
  std::vector<std::string> listed() {
    std::vector<std::string> names;
    const json all = answer({"jobs", "--json"});
    for (const json& job : all.at("jobs")) {
      names.push_back(job.at("job").get<std::string>() + "@" + job.at("run_id").get<std::string>());
    }
    return names;
  }
};

TEST_F(AskCommands, JobsAreAllRunsOfAllJobs) {
  attempt({.job = "b", .run_id = "first", .id = 1}, 0, 0);
  attempt({.job = "b", .run_id = "second", .id = 2}, 100, 0);
  attempt({.job = "a/../a 'quoted'", .id = 3}, 0, 0);
  EXPECT_THAT(listed(), ElementsAre("a/../a 'quoted'@", "b@first", "b@second"));
  const json jobs = answer({"jobs", "--json"});
  EXPECT_EQ(jobs.at("schema"), "goodput.jobs/1");
  EXPECT_EQ(jobs.at("jobs").at(1).at("last_step"), 9);
  EXPECT_EQ(jobs.at("jobs").at(1).at("attempts"), 1);
  EXPECT_THAT(run({"jobs"}).out, HasSubstr("second"));
}

TEST_F(AskCommands, WhatIsBrokenHidesNoOtherJob) {
  const auto broken = attempt({.job = "broken", .id = 1}, 0, 0);
  attempt({.job = "whole", .id = 2}, 0, 0);
  std::ofstream(broken.path() + "/00000001.live", std::ios::binary) << std::string(65'536, 'x');
  std::filesystem::create_directories(folder_.path() + "/v1/stray/folder");
  std::ofstream(folder_.path() + "/v1/" + journal::hash_name("broken") + "/stray") << "no folder";
  EXPECT_THAT(listed(), ElementsAre("whole@"));
}

TEST_F(AskCommands, JobsWithoutAnyIsAnEmptyList) {
  EXPECT_THAT(listed(), ElementsAre());
  EXPECT_EQ(run({"jobs"}).code, kDone);
  EXPECT_EQ(run({"jobs", "--label", "team"}).code, kUsage);
}

TEST_F(AskCommands, JobsAreChosenByLabel) {
  attempt({.job = "without", .id = 1}, 0, 0);
  {
    const testing::ScopedEnvironment labels("GOODPUT_LABELS", "team=nlp,site=a");
    const testing::ScopedEnvironment quiet("GOODPUT_QUIET", "1");
    Recorder recorder = Recorder::open({.job = "with", .directory = folder_.path()});
    recorder.step(1);
  }
  const json chosen = answer({"jobs", "--json", "--label", "team=nlp", "--label", "site=a"});
  ASSERT_EQ(chosen.at("jobs").size(), 1U);
  EXPECT_EQ(chosen.at("jobs").at(0).at("job"), "with");
  EXPECT_EQ(answer({"jobs", "--json", "--label", "team=nlp", "--label", "site=b"}).at("jobs").size(), 0U);
}

TEST_F(AskCommands, AttemptsAndDisruptionsAreThoseOfTheReport) {
  attempt({.attempt_id = "one", .id = 1}, 0, 0);
  attempt({.attempt_id = "two", .id = 2}, 60, 5);
  const json report = answer({"report", "llama-7b", "--json"});
  const json attempts = answer({"attempts", "llama-7b", "--json"});
  EXPECT_EQ(attempts.at("attempts"), report.at("attempts"));
  EXPECT_EQ(attempts.at("attempts").size(), 2U);
  EXPECT_EQ(attempts.at("attempts").at(1).at("id"), "two");
  const json disruptions = answer({"disruptions", "llama-7b", "--json"});
  EXPECT_EQ(disruptions.at("disruptions"), report.at("disruption_records"));
  EXPECT_EQ(disruptions.at("disruptions").at(0).at("resume_step"), 5);
  EXPECT_THAT(run({"attempts", "llama-7b"}).out, HasSubstr("llama-7b: 2 attempts"));
  EXPECT_THAT(run({"disruptions", "llama-7b"}).out, HasSubstr("llama-7b: 1 disruption"));
  EXPECT_EQ(answer({"ranks", "llama-7b", "--json"}).at("ranks"), report.at("ranks"));
}

TEST_F(AskCommands, AJobThatIsNotThereIsNo) {
  attempt({.job = "llama-7b", .id = 1}, 0, 0);
  for (const char* command : {"attempts", "disruptions", "ranks"}) {
    const Outcome outcome = run({command, "llama-8b"});
    EXPECT_EQ(outcome.code, kAnswerIsNo);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("looking for job \"llama-8b\": nothing is recorded of it"));
    EXPECT_EQ(run({command}).code, kUsage);
  }
}

}  // namespace
}  // namespace goodput::cli
