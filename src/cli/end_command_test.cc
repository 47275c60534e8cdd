// `goodput end` as it is typed.
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

class EndCommand : public testing::RecordedJob {
 protected:
  /// Two attempts of one launch; the last sign of life is 100 s after the first start.
  void killed_job() {
    attempt({.attempt_id = "slurm.7", .id = 1}, 0, 0);
    auto second = attempt({.attempt_id = "slurm.7", .id = 2}, 60, 5);
    second.alive_at(kBoot + 100 * kSecond);
    second.write();
  }
  json parsed(std::vector<std::string> of, int64_t now_seconds = 100'000) {
    return json::parse(report(std::move(of), now_seconds), nullptr, false);
  }
};

TEST_F(EndCommand, AJobEndsWithItsLastSignOfLife) {
  killed_job();
  EXPECT_EQ(parsed({"llama-7b"}).at("status"), "down");
  const testing::ScopedEnvironment scheduler("GOODPUT_ATTEMPT_ID", "of another job");
  EXPECT_EQ(run({"end", "llama-7b", "--failed"}).out,
            "llama-7b: failed at 2026-01-01T00:01:40.000000Z, its last sign of life\n");
  const json ended = parsed({"llama-7b"});
  EXPECT_EQ(ended.at("status"), "failed");
  EXPECT_EQ(ended.at("provisional"), false);
  EXPECT_EQ(ended.at("elapsed_seconds"), 100.0);
  EXPECT_EQ(ended.at("attempts").size(), 2U);
  EXPECT_EQ(ended.at("attempts").at(1).at("id"), "slurm.7#2");
  EXPECT_EQ(ended.at("attempts").at(1).at("status"), "failed");
  EXPECT_EQ(ended.at("attempts").at(0).at("status"), "died");
}

TEST_F(EndCommand, WithoutFailedItHasCompleted) {
  killed_job();
  EXPECT_EQ(run({"end", "llama-7b", "--quiet"}).out, "");
  const json ended = parsed({"llama-7b"});
  EXPECT_EQ(ended.at("status"), "completed");
  EXPECT_EQ(ended.at("elapsed_seconds"), 100.0);
  EXPECT_EQ(ended.at("max_productive_step"), 14);
}

TEST_F(EndCommand, AnEndStands) {
  killed_job();
  EXPECT_EQ(run({"end", "llama-7b"}).code, kDone);
  const Outcome again = run({"end", "llama-7b"});
  EXPECT_EQ(again.code, kDone);
  EXPECT_EQ(again.out, "llama-7b: has completed already\n");
  EXPECT_EQ(json::parse(run({"end", "llama-7b", "--json"}).out, nullptr, false), (json{{"schema", "goodput.end/1"},
                                                                                       {"job", "llama-7b"},
                                                                                       {"run_id", ""},
                                                                                       {"status", "completed"},
                                                                                       {"recorded_end", nullptr}}));
  const Outcome otherwise = run({"end", "llama-7b", "--failed"});
  EXPECT_EQ(otherwise.code, kCannot);
  EXPECT_EQ(otherwise.err, "goodput end: ending job \"llama-7b\": it has completed already\n");
  EXPECT_EQ(parsed({"llama-7b"}).at("status"), "completed");
}

TEST_F(EndCommand, AJobThatLivesIsNotEnded) {
  const testing::ScopedEnvironment quiet("GOODPUT_QUIET", "1");
  Recorder recorder = Recorder::open({.job = "alive", .directory = folder_.path()});
  recorder.step(1);

  const Outcome refused = run({"end", "alive"});
  EXPECT_EQ(refused.code, kCannot);
  EXPECT_THAT(refused.err, HasSubstr("ending job \"alive\": it is alive (rank 0, process "));
  EXPECT_EQ(run({"end", "nobody"}).code, kAnswerIsNo);
}

TEST_F(EndCommand, AnImportedJobEndsToo) {
  const std::string log = folder_.path() + "/log";
  std::ofstream(log) << "{\"job_name\":\"j\",\"job_start_time\":1767225600.0}\n"
                        "{\"job_name\":\"j\",\"step_start_time\":1767225610.0,\"step_count\":0}\n"
                        "{\"job_name\":\"j\",\"step_start_time\":1767225620.0,\"step_count\":1}\n";
  EXPECT_EQ(run({"import", log}).code, kDone);
  EXPECT_EQ(parsed({"j"}).at("status"), "running");
  EXPECT_EQ(run({"end", "j"}).code, kDone);
  const json ended = parsed({"j"});
  EXPECT_EQ(ended.at("status"), "completed");
  EXPECT_EQ(ended.at("elapsed_seconds"), 20.0);
  EXPECT_EQ(ended.at("attempts").size(), 1U);
}

}  // namespace
}  // namespace goodput::cli
