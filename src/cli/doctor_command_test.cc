// `goodput doctor` as it is typed.
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
using ::testing::Not;
using testing::Outcome;

class DoctorCommand : public testing::RecordedJob {
 protected:
  const testing::ScopedEnvironment not_on_google_{"NO_GCE_CHECK", "true"};
  const testing::ScopedEnvironment no_project_{"GOOGLE_CLOUD_PROJECT", nullptr};
  const testing::ScopedEnvironment no_key_{"GOOGLE_APPLICATION_CREDENTIALS", nullptr};
  const testing::ScopedEnvironment no_home_{"HOME", "/nonexistent"};
};

TEST_F(DoctorCommand, WithoutAJobItLooksAtTheMachine) {
  const Outcome outcome = run({"doctor"});
  EXPECT_EQ(outcome.code, kDone) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("folder"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("lead process")));
}

TEST_F(DoctorCommand, ARedLineIsNo) {
  const Outcome outcome = run({"doctor", "--job", "llama-8b"});
  EXPECT_EQ(outcome.code, kAnswerIsNo);
  EXPECT_THAT(outcome.out, HasSubstr("nothing is recorded of"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(DoctorCommand, FindingsAloneAreNoNo) {
  attempt({.id = 1}, 0, 0);
  const Outcome outcome = run({"doctor", "llama-7b", "--json"});
  EXPECT_EQ(outcome.code, kDone) << outcome.out;
  const json answer = json::parse(outcome.out);
  EXPECT_EQ(answer.at("job"), "llama-7b");
  EXPECT_EQ(answer.at("verdict"), "yellow") << outcome.out;
  EXPECT_EQ(answer.at("checks").at(0).at("check"), "lead");
}

}  // namespace
}  // namespace goodput::cli
