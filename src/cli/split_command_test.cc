// `goodput split` as it is typed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <goodput/recorder.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/testing/recorded_job.h"

namespace goodput::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::kBoot;
using testing::kSecond;
using testing::Outcome;

constexpr const char* kSecondRun = "llama-7b@2026-01-01T01:00:00.000000Z";

class SplitCommand : public testing::RecordedJob {
 protected:
  json parsed(std::vector<std::string> of) {
    json report = json::parse(RecordedJob::report(std::move(of), 100'000), nullptr, false);
    report.erase("run_id");
    return report;
  }
  /// A fresh run under the name, an hour after the first: two attempts, another rank, a launcher.
  void fresh_run() {
    attempt({.attempt_id = "slurm.9", .id = 11}, 3'600, 0);
    Journal rank(folder_.path(), {.attempt_id = "slurm.9",
                                  .host = "node-4",
                                  .process_index = 1,
                                  .open_boot_ns = kBoot + 3'601 * kSecond,
                                  .open_wall_ns = testing::kWall + 3'601 * kSecond,
                                  .id = 12});
    rank.append({.kind = event::Kind::kCheckpointSave,
                 .boot_ns = kBoot + 3'604 * kSecond,
                 .value = 2,
                 .duration_ns = kSecond / 2});
    rank.write();
    Journal launcher(folder_.path(), {.attempt_id = "slurm.9",
                                      .role = "launcher",
                                      .open_boot_ns = kBoot + 3'599 * kSecond,
                                      .open_wall_ns = testing::kWall + 3'599 * kSecond,
                                      .id = 13});
    launcher.append(
        {.kind = event::Kind::kProcessExit, .flags = event::kCode, .boot_ns = kBoot + 3'612 * kSecond, .value = 1});
    launcher.write();
    attempt({.attempt_id = "slurm.10", .id = 14}, 3'700, 5);
  }
};

TEST_F(SplitCommand, EachRunAnswersAsIfItHadBeenRecordedAlone) {
  eventful_job();
  const json first_alone = parsed({"llama-7b"});
  fresh_run();
  const json both = parsed({"llama-7b"});
  EXPECT_EQ(both.at("attempts").size(), 5U);
  const json reused = both.at("data_quality").at("findings").back();
  EXPECT_EQ(reused.at("kind"), "name_reused");
  EXPECT_THAT(reused.at("fix").get<std::string>(), HasSubstr("goodput split 'llama-7b' --at 2026-01-01T01:00:00"));

  const Outcome done = run({"split", "llama-7b", "--at", "2026-01-01T01:00:00.000000Z"});
  EXPECT_EQ(done.code, kDone) << done.err;
  EXPECT_EQ(done.out, std::string(kSecondRun) +
                          ": the run from 2026-01-01T01:00:00.000000Z on, 2 of 5 attempts (4 journals moved, 0 cut in "
                          "two)\nllama-7b@: the run before\n");
  EXPECT_EQ(json::diff(parsed({"llama-7b@"}), first_alone), json::array());
  const json second = parsed({"llama-7b"});
  EXPECT_EQ(json::diff(parsed({kSecondRun}), second), json::array());
  EXPECT_EQ(second.at("attempts").size(), 2U);
  EXPECT_EQ(second.at("attempts").at(0).at("exit_code"), 1);
  EXPECT_EQ(second.at("badput_seconds").at("CHECKPOINT_SAVE"), 0.5);
  EXPECT_EQ(second.at("elapsed_seconds"), 96'400.0);

  const Outcome again = run({"split", "llama-7b@", "--at", "2026-01-01T01:00:00Z"});
  EXPECT_EQ(again.code, kUsage);
  EXPECT_THAT(again.err, HasSubstr("none of its attempts start at or after 2026-01-01T01:00:00.000000Z"));
}

TEST_F(SplitCommand, TwoAttemptsOfOneProcessArePartedToo) {
  eventful_job();
  const json both = parsed({"llama-7b"});
  const std::string at = both.at("attempts").at(1).at("start");
  const Outcome done = run({"split", "llama-7b", "--json", "--at", at});
  const json told = json::parse(done.out, nullptr, false);
  EXPECT_EQ(told.at("second_run_id"), at) << done.err;
  EXPECT_EQ(told.at("second_run_attempts"), 2);
  EXPECT_EQ(told.at("attempts"), 3);
  EXPECT_EQ(told.at("journals_moved"), 2);
  EXPECT_EQ(told.at("journals_cut"), 1);
  const json first = parsed({"llama-7b@"}), second = parsed({"llama-7b@" + at});
  EXPECT_EQ(first.at("attempts").size(), 1U);
  EXPECT_EQ(first.at("last_step"), 40);
  EXPECT_EQ(first.at("attempts").at(0).at("end"), both.at("attempts").at(0).at("end"));
  EXPECT_EQ(second.at("attempts").size(), 2U);
  EXPECT_EQ(second.at("attempts").at(0).at("id"), "slurm.7");
  EXPECT_EQ(second.at("attempts").at(0).at("exit_signal"), 9);
  EXPECT_EQ(second.at("attempts").at(0).at("start"), at);
  EXPECT_EQ(second.at("attempts").at(0).at("first_step"), 30);
  EXPECT_EQ(second.at("elapsed_seconds"), 215.0);
  EXPECT_EQ(first.at("data_quality").at("findings").size() + second.at("data_quality").at("findings").size(), 0U);
}

TEST_F(SplitCommand, AnImportedRunIsSplitByItsLog) {
  std::string log;
  const auto entry = [&](const std::string& key, int at_seconds, const std::string& more = "") {
    log += "{\"job_name\":\"j\",\"" + key + "\":" + std::to_string(1767225600 + at_seconds) + ".0" + more + "}\n";
  };
  for (const int start : {0, 1'000}) {
    entry("job_start_time", start);
    for (int step = 0; step < 5; ++step)
      entry("step_start_time", start + 10 + step, ",\"step_count\":" + std::to_string(step));
    entry("job_end_time", start + 20);
  }
  std::ofstream(folder_.path() + "/log") << log;
  EXPECT_EQ(run({"import", folder_.path() + "/log"}).code, kDone);
  EXPECT_EQ(run({"split", "j", "--at", "1767226600"}).code, kDone);
  EXPECT_EQ(parsed({"j@"}).at("attempts").size(), 1U);
  EXPECT_EQ(parsed({"j@"}).at("elapsed_seconds"), 20.0);
  EXPECT_EQ(parsed({"j"}).at("attempts").size(), 1U);
  EXPECT_EQ(parsed({"j"}).at("start"), "2026-01-01T00:16:40.000000Z");
}

TEST_F(SplitCommand, WhatCannotBePartedIsRefusedAndStays) {
  eventful_job();
  const json before = parsed({"llama-7b"});
  const auto refused = [&](const std::string& at) {
    const Outcome outcome = run({"split", "llama-7b", "--at", at});
    EXPECT_EQ(outcome.code, kUsage) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refused("2026-01-01T00:00:30Z"), HasSubstr("lies inside attempt 0"));
  EXPECT_THAT(refused("2026-01-01T00:00:00Z"), HasSubstr("all of its attempts"));
  EXPECT_THAT(refused("2026-02-01"), HasSubstr("none of its attempts"));
  EXPECT_THAT(refused("tomorrow"), HasSubstr("tomorrow"));
  EXPECT_EQ(run({"split", "llama-7b"}).code, kUsage);
  EXPECT_EQ(run({"split", "nobody", "--at", "0"}).code, kAnswerIsNo);
  EXPECT_EQ(json::diff(parsed({"llama-7b"}), before), json::array());
}

TEST_F(SplitCommand, AJobThatLivesIsNotSplit) {
  const testing::ScopedEnvironment quiet("GOODPUT_QUIET", "1");
  Recorder recorder = Recorder::open({.job = "alive", .directory = folder_.path()});
  recorder.step(1);
  const Outcome outcome = run({"split", "alive", "--at", "-1h"});
  EXPECT_EQ(outcome.code, kCannot);
  EXPECT_THAT(outcome.err, HasSubstr("splitting job \"alive\": it is alive (rank 0, process"));
}

}  // namespace
}  // namespace goodput::cli
