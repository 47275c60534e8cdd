// SPDX-License-Identifier: Apache-2.0
#include "record/identity.h"

#include <gtest/gtest.h>

#include <map>

namespace goodput::record {
namespace {

using Variables = std::map<std::string, std::string>;
using Labels = std::vector<std::pair<std::string, std::string>>;

Identity resolve(const RecorderOptions& options, const Variables& variables) {
  return resolve_identity(options, [&variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(IdentityTest, WhatIsNotSaidComesFromTheEnvironment) {
  const Variables variables = {{"GOODPUT_JOB", "j"},          {"GOODPUT_RUN_ID", "r"},
                               {"GOODPUT_ACCELERATORS", "8"}, {"GOODPUT_ACCELERATOR_TYPE", "H100"},
                               {"GOODPUT_DIR", "/tmp/g"},     {"RANK", "5"}};
  const Identity from_environment = resolve({}, variables);
  EXPECT_EQ(from_environment.job, "j");
  EXPECT_EQ(from_environment.run_id, "r");
  EXPECT_EQ(from_environment.accelerators, 8);
  EXPECT_EQ(from_environment.accelerator_type, "H100");
  EXPECT_EQ(from_environment.process_index, 5);
  ASSERT_EQ(from_environment.roots.size(), 1U);
  EXPECT_EQ(from_environment.roots[0].path, "/tmp/g");

  const Identity said = resolve({.job = "k", .process_index = 0, .directory = "/tmp/h", .accelerators = 16}, variables);
  EXPECT_EQ(said.job, "k");
  EXPECT_EQ(said.process_index, 0);
  EXPECT_EQ(said.accelerators, 16);
  EXPECT_EQ(said.roots[0].path, "/tmp/h");
}

TEST(IdentityTest, FirstVariableThatIsANumberIsTheProcessIndex) {
  EXPECT_EQ(resolve({}, {}).process_index, 0);
  EXPECT_EQ(resolve({}, {{"JOB_COMPLETION_INDEX", "9"}}).process_index, 9);
  EXPECT_EQ(resolve({}, {{"SLURM_PROCID", "4"}, {"PMI_RANK", "7"}}).process_index, 4);
  EXPECT_EQ(resolve({}, {{"RANK", "none"}, {"OMPI_COMM_WORLD_RANK", "3"}}).process_index, 3);
  EXPECT_EQ(resolve({}, {{"GOODPUT_PROCESS_INDEX", "1"}, {"RANK", "2"}}).process_index, 1);
}

TEST(IdentityTest, AttemptIdJoinsWhatIsSet) {
  EXPECT_EQ(resolve({}, {{"SLURM_JOB_ID", "77"}, {"SLURM_RESTART_COUNT", "2"}}).attempt_id, "77.2");
  EXPECT_EQ(
      resolve({}, {{"GOODPUT_ATTEMPT_ID", "a"}, {"TORCHELASTIC_RUN_ID", "t"}, {"TORCHELASTIC_RESTART_COUNT", "0"}})
          .attempt_id,
      "a.t.0");
  EXPECT_EQ(resolve({.attempt_id = "mine"}, {{"SLURM_JOB_ID", "77"}}).attempt_id, "mine");
}

TEST(IdentityTest, OnlyATrainersRankZeroTakesARandomAttemptId) {
  const std::string first = resolve({}, {}).attempt_id;
  EXPECT_EQ(first.size(), 16U);
  EXPECT_NE(resolve({}, {}).attempt_id, first);
  EXPECT_EQ(resolve({.process_index = 1}, {}).attempt_id, "");
  EXPECT_EQ(resolve({.role = "launcher"}, {}).attempt_id, "");
}

TEST(IdentityTest, LabelsOfTheCallerStandBeforeThoseOfTheEnvironment) {
  const Identity identity =
      resolve({.labels = {{"team", "nlp"}}},
              {{"GOODPUT_LABELS", "team=cv,owner=ada=1,=x,y"}, {"SLURM_JOB_ID", "77"}, {"POD_NAME", "p-0"}});
  EXPECT_EQ(identity.labels,
            (Labels{{"team", "nlp"}, {"owner", "ada=1"}, {"slurm.job_id", "77"}, {"kubernetes.pod", "p-0"}}));
}

TEST(IdentityTest, UnknownCountStaysUnknown) {
  EXPECT_FALSE(resolve({}, {{"GOODPUT_ACCELERATORS", "many"}}).accelerators.has_value());
  EXPECT_FALSE(resolve({.accelerators = -3}, {}).accelerators.has_value());
  EXPECT_FALSE(resolve({}, {}).accelerators.has_value());
}

}  // namespace
}  // namespace goodput::record
